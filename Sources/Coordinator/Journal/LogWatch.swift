import Wire

/// Watches how long SQLite's log of the journal is.
///
/// A program that reads the journal in one long transaction keeps SQLite from writing its log from the front again, and from cutting it:
/// it grows with each commit, whatever `JournalDatabase.logBytesMax` says. When that program has gone, a coordinator that commits nothing would
/// leave it as it is. So it is tried to cut it, now and then, and where another program prevents that, somebody is told.
struct LogWatch {
    /// From so many bytes on it is told of. Somebody who reads for a moment is no reason.
    static let toldBytes = 2 * Int64(JournalDatabase.logBytesMax)

    enum Action: Equatable {
        /// The journal's thread is to cut it, and to answer.
        case cut
        case tellHeld(bytes: Int64)
        case tellShort(bytes: Int64)
    }

    private enum Cutting {
        case pausing(until: Int64)
        /// The journal's thread has not answered.
        case asked
    }

    private enum Told {
        case nothing
        /// That another program holds so many bytes.
        case held(bytes: Int64)
    }

    /// Whether it is longer than it is meant to be: a commit may have all of it to copy.
    private(set) var isLong = false
    private var cutting = Cutting.pausing(until: .min)
    private var told = Told.nothing

    mutating func look(_ bytes: Int64, at now: Int64) -> Action? {
        isLong = bytes > Int64(JournalDatabase.logBytesMax)
        guard isLong else {
            guard case .held = told else { return nil }
            told = .nothing
            return .tellShort(bytes: bytes)
        }
        guard case .pausing(let until) = cutting, now >= until else { return nil }
        cutting = .asked
        return .cut
    }

    /// The journal's thread has tried to cut it.
    mutating func answer(_ cut: JournalDatabase.LogCut, _ bytes: Int64, at now: Int64) -> Action? {
        cutting = .pausing(until: now + CoordinatorLimits.logCutMilliseconds)
        guard cut == .held, bytes >= nextToldBytes else { return nil }
        told = .held(bytes: bytes)
        return .tellHeld(bytes: bytes)
    }

    private var nextToldBytes: Int64 {
        switch told {
        case .nothing: Self.toldBytes
        case .held(let bytes): 2 * bytes
        }
    }

    /// - Parameter path: the journal's.
    static func heldText(_ path: String, bytes: Int64) -> String {
        "\(path)-wal has \(bytes >> 20) MiB and grows with each commit, since another program reads the journal in one long transaction, "
            + "or has it locked. Nothing is lost, but the disk fills, and a start takes longer: close that program "
            + "(`fuser \(path.shellWord)` names it, beside this coordinator), and look at copies: aop journal backup makes one"
    }

    static func shortText(_ path: String, bytes: Int64) -> String {
        "\(path)-wal has \(bytes >> 20) MiB again: no other program holds it any more"
    }
}
