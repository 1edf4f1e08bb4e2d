/// Operations that have ended their worker's process so often that nobody tries them again for a while: what another
/// unit of the same type and parameters would do is known.
///
/// Part of the durable state: what is in it follows from the facts alone.
struct QuarantineTable {
    /// What is told apart: an operation with its parameters, elements of the forEachs around it included. What it receives
    /// is no part of it.
    struct Key: Hashable {
        let type: String
        let version: Int
        let parameters: [UInt8]
        let bindings: [Binding]
    }

    struct Entry: Hashable {
        /// Wall-clock milliseconds since 1970.
        let until: Int64
        /// The newest version that workers had registered: a newer one is tried.
        let newestVersion: Int
        let crashes: Int
        /// Where it happened: submission and path.
        let place: String
    }

    /// How long an operation is kept from workers.
    static let milliseconds: Int64 = 3_600_000
    /// More are not kept: who would be one too many pushes out the one that ends first.
    static let entriesMax = 1_000
    /// A command may well end its worker's process without being to blame, and its host's administrator sees to it.
    static let exemptTypes: Set<String> = ["shell"]

    /// Looked up; iterated only where the order does not matter.
    var entries: [Key: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ key: Key, crashes: Int, place: String, newestVersion: Int, at: Int64) {
        entries = entries.filter { $0.value.until > at }
        if entries.count >= Self.entriesMax, let first = entries.min(by: { order($0.value) < order($1.value) }) {
            entries[first.key] = nil
        }
        entries[key] = Entry(until: at + Self.milliseconds, newestVersion: newestVersion, crashes: crashes, place: place)
    }

    /// A worker offers a version of the type: what was known of older ones says nothing about it.
    mutating func registered(type: String, version: Int) {
        guard !entries.isEmpty else { return }
        entries = entries.filter { $0.key.type != type || $0.value.newestVersion >= version }
    }

    /// A user lets it go.
    mutating func lift(_ key: Key) { entries[key] = nil }

    /// - Parameter at: wall-clock milliseconds since 1970.
    func entry(_ key: Key, at: Int64) -> Entry? { entries[key].flatMap { $0.until > at ? $0 : nil } }

    private func order(_ entry: Entry) -> (Int64, String) { (entry.until, entry.place) }
}

extension Submission {
    /// Nil: it is never kept from workers.
    func quarantineKey(of unit: Int) -> QuarantineTable.Key? {
        guard case .operation(let operation) = node(unit).kind, !node(unit).isHosted,
            !QuarantineTable.exemptTypes.contains(operation.type)
        else { return nil }
        return QuarantineTable.Key(
            type: operation.type, version: operation.version, parameters: graph.parameters[operation.parameters],
            bindings: operation.isTemplated ? bindings(of: unit) : [])
    }

    func quarantinedFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        return Failure(
            code: .quarantined, publisher: path, message: quarantines[Int32(unit)] ?? "it is kept from workers", typeName: "Quarantined",
            origin: path)
    }

    /// The unit is not tried, because its like has ended too many processes.
    mutating func quarantine(_ unit: Int, _ cause: String, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard isInTurn(unit) else { throw FactMismatch("\(path(of: unit)) was kept from workers while it waited for none") }
        quarantines[Int32(unit)] = cause
        requestStop(unit, .quarantined, hurried: false, at: at, &effects)
    }
}

extension DurableState {
    /// The unit's process has died under it too often.
    mutating func quarantine(_ unit: UnitID, at: Int64) {
        let index = index(of: unit.submission)
        guard let key = submissions[index].quarantineKey(of: unit.index) else { return }
        quarantine.add(
            key, crashes: Int(submissions[index].units[unit.index].crashes),
            place: "\(submissions[index].id)/\(submissions[index].path(of: unit.index))",
            newestVersion: signatures.signatures(of: key.type).last?.version ?? 0, at: at)
    }
}

extension Scheduler {
    /// Why nobody is to try the unit; nil: it may be tried.
    func quarantineCause(of unit: UnitID) -> String? {
        guard !durable.quarantine.isEmpty else { return nil }
        let index = durable.index(of: unit.submission)
        guard let key = durable.submissions[index].quarantineKey(of: unit.index),
            let entry = durable.quarantine.entry(key, at: now.wall)
        else { return nil }
        return "`\(key.type)` with these parameters has ended its worker's process \(entry.crashes) times (in \(entry.place))"
            + " and is not tried again before \(WallTime.text(milliseconds: entry.until)), unless a worker registers a newer version of it"
            + ", or `aop retry ID --force` lets it go"
    }

    /// Ends the unit if it is not to be tried.
    ///
    /// - Returns: whether it is.
    mutating func endQuarantined(_ unit: UnitID, _ outputs: inout Outputs) -> Bool {
        guard let cause = quarantineCause(of: unit) else { return false }
        emit(.quarantineMet(unit, cause, at: now.wall), &outputs)
        return true
    }
}
