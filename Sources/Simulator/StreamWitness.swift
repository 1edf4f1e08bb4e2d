import AOperation
import Executing
import Scheduling
import Wire

/// Judges what those get who read what operations send: elements of one attempt, in their order, from the first one, each once.
final class StreamWitness {
    /// Whose elements somebody has read, and how many.
    struct Reading {
        var attempt: UInt64?
        var number = 0
        var count = 0
    }

    private unowned let world: Simulation
    /// How many elements each attempt has sent.
    private var sent: [UInt64: Int] = [:]
    /// Which attempt has which number, by submission and path.
    private var attempts: [String: [Int: UInt64]] = [:]
    /// Of the client's readers.
    private var readings: [UInt64: Reading] = [:]
    /// How much of the newest attempt anybody has read, by submission and path.
    private var seen: [String: Reading] = [:]
    /// What attempts have received of a stream, with the number of the attempt that they name.
    private var received: [UInt64: (path: String, number: Int, count: Int, isWhole: Bool)] = [:]

    init(of world: Simulation) { self.world = world }

    /// What the element of this index says.
    static func element(_ index: Int, of attempt: UInt64) -> String { "\(attempt)/\(index)" }

    func sends(_ assignment: WireAssignment) {
        sent[assignment.attempt] = 0
        attempts["\(assignment.submission)/\(assignment.path)", default: [:]][Int(assignment.attemptNumber)] = assignment.attempt
    }

    func sent(by attempt: UInt64) { sent[attempt, default: 0] += 1 }

    // MARK: Readers in the client

    func begins(_ reader: UInt64) { readings[reader] = Reading() }

    func read(_ event: RemotePartialResult, _ reader: SimulatedReader, _ number: UInt64) {
        let place = "\(reader.submission)/\(reader.path)"
        func complain(_ text: String) { world.violate("a reader of \(place) \(text)") }
        guard var reading = readings[number] else { return }
        switch event {
        case .restarted(let attempt):
            if attempt <= reading.number { complain("is told that attempt \(attempt) follows on \(reading.number)") }
            reading = Reading(number: attempt)
        case .missed(let count):
            // There is little room: what has ended gives way.
            guard world.faults.contains(.fullSpools), world.witness.hasEnded(submission: reader.submission) else {
                complain("misses \(count) elements")
                break
            }
            reading.count += count
        case .element(let value, let attempt, let index):
            // Attempts that have sent nothing are passed over in silence.
            if reading.count == 0 || reading.number == 0 { reading.number = max(attempt, reading.number) }
            if attempt != reading.number { complain("gets an element of attempt \(attempt), and reads attempt \(reading.number)") }
            if let problem = add(value, at: index, of: attempts[place]?[attempt], to: &reading) { complain(problem) }
            if attempt >= seen[place]?.number ?? 0, reading.count > seen[place]?.count ?? 0 || attempt > seen[place]?.number ?? 0 {
                seen[place] = reading
            }
        case .ended: break
        }
        readings[number] = reading
    }

    func ended(_ reader: SimulatedReader, _ number: UInt64, hasFailed: Bool) {
        guard let reading = readings[number] else { return }
        let place = "\(reader.submission)/\(reader.path)"
        let number = Int(reader.place.attempt)
        if !hasFailed, let attempt = attempts[place]?[number], let count = sent[attempt], reading.count != count {
            world.violate("a reader of \(place) has read \(reading.count) elements to the end, and \(count) were sent")
        }
        // A group that is tried again begins its members anew: then what ended before was read to its end.
        if reader.isLast, let last = attempts[place]?.keys.max(), number < last {
            world.violate("a reader of \(place) has read attempt \(number) to the end, and attempt \(last) has begun")
        }
        if let seen = seen[place], seen.number == number, reading.count < seen.count {
            world.violate("a reader of \(place) has read \(reading.count) elements to the end, and another one \(seen.count) of the same")
        }
    }

    // MARK: Receivers

    /// - Returns: what is wrong with it; nil: nothing.
    func receives(_ value: EncodedValue, at index: Int, of assignment: WireAssignment, _ reading: inout Reading) -> String? {
        let source = attempts["\(assignment.submission)/\(assignment.stream.path)"]?[Int(assignment.stream.attemptNumber)]
        return add(value, at: index, of: source, to: &reading)
    }

    /// The receiver has read all that it wants, and may succeed.
    func received(_ assignment: WireAssignment, _ reading: Reading, isWhole: Bool) {
        received[assignment.attempt] = (
            "\(assignment.submission)/\(assignment.path)", Int(assignment.stream.attemptNumber), reading.count, isWhole
        )
    }

    /// A receiver that has succeeded has the elements of the attempt with which its producer has ended.
    func check(_ submission: SimulatedClient.Submission) {
        guard let id = submission.id else { return }
        for node in submission.graph.nodes.indices where submission.graph.isStatic(node) {
            guard let producer = submission.graph.nodes[node].options.stream else { continue }
            let (path, source) = (submission.graph.path(of: node), submission.graph.path(of: producer))
            guard let outcome = submission.outcomes[path], outcome.state == .succeeded, let attempt = outcome.attempt,
                // One that has joined another one has that one's outcome.
                let received = received[attempt], received.path == "\(id)/\(path)", let ended = submission.outcomes[source]
            else { continue }
            if received.number != ended.attempts {
                world.violate(
                    "\(id)/\(path) counts with elements of attempt \(received.number) of \(source), which has ended with \(ended.attempts)")
            }
            guard received.isWhole, ended.state == .succeeded, let sender = attempts["\(id)/\(source)"]?[ended.attempts] else { continue }
            if let count = sent[sender], received.count != count {
                world.violate("\(id)/\(path) counts with \(received.count) elements of \(source), which has sent \(count)")
            }
        }
    }

    private func add(_ value: EncodedValue, at index: Int, of attempt: UInt64?, to reading: inout Reading) -> String? {
        defer { reading.count = index + 1 }
        guard index == reading.count else { return "gets element \(index), and has read \(reading.count)" }
        guard let attempt else { return "gets an element of an attempt that has sent nothing" }
        reading.attempt = attempt
        let text = String(decoding: value.bytes, as: UTF8.self)
        guard text == Self.element(index, of: attempt) else { return "gets element \(text) as \(index) of attempt \(attempt)" }
        return index < sent[attempt] ?? 0 ? nil : "gets element \(index) of attempt \(attempt), which has not sent it"
    }
}

extension SimulatedClient.OutcomeSeen {
    /// Whose value it is.
    var attempt: UInt64? {
        guard case .inline(let bytes)? = value?.storage else { return nil }
        return String(decoding: bytes, as: UTF8.self).split(separator: "#").last.flatMap { UInt64($0) }
    }
}
