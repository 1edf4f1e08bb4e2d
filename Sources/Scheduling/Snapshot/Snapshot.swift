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
