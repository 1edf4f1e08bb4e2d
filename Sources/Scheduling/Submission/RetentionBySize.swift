import HeapModule

/// A submission that has ended and is still known.
public struct KeptSubmission: Sendable, Hashable {
    public let number: SubmissionNumber
    public let id: String
    public let name: String
    /// Milliseconds since 1970.
    public let endedAt: Int64
    /// What its graph and its values take, about. A large value counts for each operation that has it.
    public let bytes: Int64
    /// Nothing of it can happen any more.
    public let mayBeForgotten: Bool
}

/// Which submissions have ended, the first one first, and what they take.
struct KeptSubmissions {
    private struct Entry: Comparable {
        let endedAt: Int64
        let number: SubmissionNumber
        static func < (one: Self, other: Self) -> Bool {
            (one.endedAt, one.number.rawValue) < (other.endedAt, other.number.rawValue)
        }
    }

    /// Those that were forgotten meanwhile are in it, too.
    private var order = Heap<Entry>()
    /// Looked up, never iterated.
    private var sizes: [SubmissionNumber: Int64] = [:]
    private(set) var bytes: Int64 = 0

    mutating func insert(_ number: SubmissionNumber, endedAt: Int64, bytes: Int64) {
        guard sizes.updateValue(bytes, forKey: number) == nil else { return }
        order.insert(Entry(endedAt: endedAt, number: number))
        self.bytes += bytes
    }

    mutating func remove(_ number: SubmissionNumber) { bytes -= sizes.removeValue(forKey: number) ?? 0 }

    /// Takes out the one that ended first.
    mutating func popFirst() -> (number: SubmissionNumber, endedAt: Int64, bytes: Int64)? {
        while let entry = order.popMin() {
            guard let size = sizes[entry.number] else { continue }
            remove(entry.number)
            return (entry.number, entry.endedAt, size)
        }
        return nil
    }
}

/// What has ended takes no more than a bounded room.
extension Scheduler {
    mutating func watchRoom(for number: SubmissionNumber) {
        guard let limit = configuration.retentionBytes else { return }
        let submission = durable.submission(number)
        kept.insert(number, endedAt: submission.units[0].finishedAt, bytes: submission.keptBytes)
        if kept.bytes > limit { wallTimers.insert(.room, due: now.wall) }
    }

    /// Forgets what ended first until the rest is within the limit, but nothing that somebody may be about to ask for.
    mutating func roomDue(_ outputs: inout Outputs) {
        guard let bytesMax = configuration.retentionBytes else { return }
        // What is not written down yet may take as much again, and no more.
        let limit = historyIsBehind ? bytesMax + min(bytesMax, .max - bytesMax) : bytesMax
        var spared: [(number: SubmissionNumber, endedAt: Int64, bytes: Int64)] = []
        var sparedBytes: Int64 = 0
        while kept.bytes + sparedBytes > limit, let oldest = kept.popFirst() {
            // What ended by a clock that was ahead, and has been set right since, is not young until then.
            let isYoung = abs(now.wall - oldest.endedAt) < Self.youngMilliseconds
            if isYoung || !durable.submission(oldest.number).canBeForgotten || pending.touched.contains(oldest.number) {
                spared.append(oldest)
                sparedBytes += oldest.bytes
                if isYoung { break }
            } else {
                forget(oldest.number, &outputs)
            }
        }
        for one in spared { kept.insert(one.number, endedAt: one.endedAt, bytes: one.bytes) }
        if kept.bytes > bytesMax { wallTimers.insert(.room, due: now.wall + Self.youngMilliseconds) }
    }

    /// Whoever waits for an end is to have the time to hear of it.
    private static let youngMilliseconds: Int64 = 60_000

    /// Those that have ended, the first one first.
    ///
    /// - Complexity: O(units).
    public var keptSubmissions: [KeptSubmission] {
        durable.submissions.filter { $0.outcome != nil }.map { submission in
            KeptSubmission(
                number: submission.number, id: submission.id, name: submission.name, endedAt: submission.units[0].finishedAt,
                bytes: submission.keptBytes, mayBeForgotten: submission.canBeForgotten)
        }.sorted { ($0.endedAt, $0.number.rawValue) < ($1.endedAt, $1.number.rawValue) }
    }
}

extension Submission {
    /// What it takes on the disk, about: values, graph, and a little for each unit.
    ///
    /// - Complexity: O(units).
    var keptBytes: Int64 {
        var bytes = Int64(graph.nodes.count) * Self.nodeBytes + Int64(units.count) * Self.unitBytes
        for parameters in graph.parameters { bytes += Int64(parameters.count) }
        for unit in units {
            guard case .ended(let ending) = unit.phase, case .success(let payload) = ending else { continue }
            switch payload.storage {
            case .inline(let content): bytes += Int64(content.count)
            case .blob(_, let size): bytes += Int64(clamping: size)
            }
        }
        return bytes
    }

    private static let nodeBytes: Int64 = 64
    private static let unitBytes: Int64 = 64
}
