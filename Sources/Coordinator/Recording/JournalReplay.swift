import Foundation
import Scheduling

/// What comes out when a scheduler is told once more what a coordinator's was told from its start on.
public struct JournalReplay: Sendable {
    /// A step that came to something else than it did then.
    public struct Difference: Sendable, Hashable {
        /// From 1; 0: the start.
        public let step: Int
        /// The journal's sequence behind it, then and now.
        public let sequences: (then: UInt64, now: UInt64)
        /// Whether the facts differ; if not, only what was sent does.
        public let isInFacts: Bool
        /// What is decided now, in words.
        public let facts: [String]

        public static func == (one: Difference, other: Difference) -> Bool {
            one.step == other.step && one.sequences == other.sequences && one.isInFacts == other.isInFacts && one.facts == other.facts
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(step)
            hasher.combine(facts)
        }
    }

    /// Of the recording.
    public let path: String
    public let steps: Int
    public let inputs: Int
    /// Facts decided since the start, its own included.
    public let facts: UInt64
    /// The first one; nil: all decisions that are in it are the same, if there are any (``gap``).
    public let difference: Difference?
    /// There is no step in it, so that nothing was compared but the start, if that is there: why, in words; nil: there is.
    public let gap: String?
    /// Why it ends before that coordinator did; nil: it goes on to the end of that, or to where it was cut off.
    public let ending: String?
    /// What is behind the last whole row: nothing is known of it. 0: nothing is.
    public let unreadBytes: Int

    /// Recordings in a data directory, the newest first.
    public static func recordings(in dataDirectory: String) -> [String] {
        let folder = Recording.folder(in: dataDirectory)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name in name.hasSuffix(".flight") ? UInt64(name.dropLast(".flight".count)) : nil }.sorted(by: >).map {
            "\(folder)/\($0).flight"
        }
    }

    /// - Parameter path: of a recording; it may be of a coordinator that runs.
    /// - Throws: `RecordingError`: it cannot be read, or is of another release.
    /// - Complexity: that of the recorded work.
    public init(recording path: String) throws(RecordingError) {
        self.path = path
        var player = Player()
        guard DurableFiles.isFile(path) else {
            let reason = DurableFiles.isThere(path) ? "this is no file" : "there is no such file"
            throw RecordingError(path: path, reason: reason, remedy: "name a recording, as there are below `flight` in the data directory")
        }
        do {
            unreadBytes = try Recording.read([UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))) { try player.play($0) }
        } catch { throw RecordingError(path: path, reason: "\(error)") }
        (steps, inputs, facts) = (player.steps, player.inputs, player.sequence - player.base)
        (difference, ending) = (player.difference, player.ending?.text)
        gap = player.steps > 0 || player.difference != nil ? nil : Self.gap(player, isCutOff: unreadBytes > 0)
    }

    private static func gap(_ player: Player, isCutOff: Bool) -> String {
        let what = player.hasStarted ? "there is a start in it and no step" : "it does not come to the start"
        if let ending = player.ending { return "\(what) (\(ending.text))" }
        return isCutOff ? "\(what) (it was cut off, or is damaged)" : what
    }
}

/// A recording that cannot be replayed.
public struct RecordingError: Error, Equatable, CustomStringConvertible {
    public let path: String
    public let reason: String
    /// What to do about it.
    public var remedy = "a recording is replayed by the release that made it"

    public var description: String { "\(path): \(reason); \(remedy) (aop journal replay)" }
}

/// Steps a scheduler row by row.
private struct Player {
    private var scheduler: Scheduler?
    private var outputs = Outputs()
    private(set) var steps = 0
    private(set) var inputs = 0
    private(set) var base: UInt64 = 0
    private(set) var sequence: UInt64 = 0
    private(set) var difference: JournalReplay.Difference?
    private(set) var hasStarted = false
    private(set) var ending: Recording.Ending?

    mutating func play(_ row: Recording.Row) throws {
        guard difference == nil else { return }
        switch row {
        case .configuration(let bytes, _): scheduler = Scheduler(try Scheduler.Configuration(recorded: bytes[...]))
        case .section(let bytes): try scheduler?.restore(section: bytes[...])
        case .start(let at, let incarnation, let then):
            hasStarted = true
            base = scheduler?.sequence.rawValue ?? 0
            outputs.removeAll()
            scheduler?.start(at: at, incarnation: Incarnation(incarnation), into: &outputs)
            compare(then)
        case .step(let at, let bytes, let then):
            let told = try InputCodec.decode(bytes[...])
            (steps, inputs) = (steps + 1, inputs + told.count)
            outputs.removeAll()
            scheduler?.step(told, at: at, into: &outputs)
            compare(then)
        case .full(let ending): self.ending = ending
        }
    }

    private mutating func compare(_ then: Recording.Decisions) {
        guard let scheduler else { return }
        let now = Recording.Decisions(outputs, sequence: scheduler.sequence)
        sequence = now.sequence
        guard now != then else { return }
        difference = JournalReplay.Difference(
            step: steps, sequences: (then.sequence, now.sequence), isInFacts: then.facts != now.facts || then.sequence != now.sequence,
            facts: outputs.facts.map { "\($0)" })
    }
}
