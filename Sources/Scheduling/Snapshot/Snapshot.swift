/// Reading and writing the durable state of a scheduler that folds a journal, so that the next one need not begin at its
/// first fact.
///
/// A snapshot is a list of sections. The first one says how many follow.
extension Scheduler {
    /// Hands over every section in turn. Only one of them is held in memory at a time.
    ///
    /// - Precondition: facts were restored, and nothing else: `start` was not called.
    public func writeSnapshot<Failure: Error>(_ body: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
        precondition(workers.sessions.isEmpty, "a scheduler that runs has more than its facts say")
        try body(durable.sharedSection(submissions: durable.submissions.count))
        for index in durable.submissions.indices { try body(durable.section(ofSubmission: index)) }
    }

    /// Takes a section of a snapshot, in the order in which they were written.
    ///
    /// - Throws: `DecodingFailure`: the snapshot is damaged, or of a later version; the scheduler is then of no use any more.
    public mutating func restore(section: ArraySlice<UInt8>) throws(DecodingFailure) {
        if durable.sequence == .none {
            durable = try DurableState(shared: section, crashLimit: configuration.crashLimit, submissionCount: &missingSections)
            guard durable.sequence != .none else { throw DecodingFailure("it is of no fact") }
        } else {
            guard missingSections > 0 else { throw DecodingFailure("it has more sections than it announced") }
            try durable.append(submission: section)
            missingSections -= 1
        }
    }

    /// Whether a snapshot was taken in whole.
    public var hasWholeSnapshot: Bool { missingSections == 0 }

    /// What submissions are called.
    public var submissionIDs: [SubmissionNumber: String] {
        Dictionary(uniqueKeysWithValues: durable.submissions.map { ($0.number, $0.id) })
    }

    /// All, and those that have not ended.
    public var submissionCounts: (all: Int, unfinished: Int) {
        (durable.submissions.count, durable.submissions.reduce(0) { $0 + ($1.outcome == nil ? 1 : 0) })
    }

    /// Hands over the large values that outcomes name, each as often as it is named.
    ///
    /// - Parameter body: with digest, size and, in words, whose value it is: submission and path.
    /// - Complexity: O(units).
    public func forEachStoredValue(_ body: (_ digest: [UInt8], _ size: UInt64, _ place: String) -> Void) {
        for submission in durable.submissions {
            submission.forEachStoredValue { value, unit in body(value.digest, value.size, "\(submission.id)/\(submission.path(of: unit))") }
        }
    }

    /// The same without the words, which are most of the work.
    public func forEachNamedValue(_ body: (StoredValue) -> Void) {
        for submission in durable.submissions { submission.forEachStoredValue { value, _ in body(value) } }
    }

    /// Whether a section is read as what it was made of.
    ///
    /// - Throws: `DecodingFailure`: it is not.
    public static func check(section: [UInt8], isFirst: Bool) throws(DecodingFailure) {
        var again = ByteWriter()
        if isFirst {
            var count = 0
            again.bytes = try DurableState(shared: section[...], crashLimit: 1, submissionCount: &count).sharedSection(submissions: count)
        } else {
            var reader = ByteReader(section[...])
            try Submission(&reader).write(into: &again)
        }
        guard again.bytes == section else { throw DecodingFailure("it is read as something else than what was written") }
    }
}

extension Submission {
    /// Hands over the large values that outcomes of it name, each as often as it is named, and whose they are.
    ///
    /// - Complexity: O(units).
    func forEachStoredValue(_ body: (StoredValue, _ unit: Int) -> Void) {
        func look(_ payload: Payload, _ unit: Int) {
            guard case .blob(let digest, let size) = payload.storage else { return }
            body(StoredValue(digest: digest, size: size), unit)
        }
        func look(_ received: Received, _ unit: Int) {
            switch received {
            case .value(let payload): look(payload, unit)
            case .list(let list): for element in list { look(element, unit) }
            case .failure: break
            }
        }
        for unit in units.indices {
            if case .ended(.success(let payload)) = units[unit].phase { look(payload, unit) }
            let key = Int32(unit)
            if let success = provisional[key] { look(success.payload, unit) }
            for ending in [heldEnds[key]?.ending, scoped[key]] {
                if case .success(let success)? = ending { look(success.payload, unit) }
            }
            if let received = joinedValues[key] { look(received, unit) }
            // A duplicate whose turn in its group has not come: the first one, and what it named, may be forgotten.
            if let ending = duplicate(unit)?.ending {
                if case .success(let payload) = ending.outcome { look(payload, unit) }
                if let received = ending.received { look(received, unit) }
            }
        }
    }
}
