/// The unique ids of the cluster, with the units that have them until they have ended, and those that have joined these.
struct UniqueTable {
    struct Claim {
        let holder: UnitID
        /// With their places in the order of joining.
        var joiners: [UnitID: UInt64] = [:]
    }

    /// Looked up, never iterated.
    var claims: [String: Claim] = [:]
    var lastPlace: UInt64 = 0

    /// Claims `id` for `unit`. Returns nil if it has it now, else the unit that has it.
    mutating func claim(_ id: String, for unit: UnitID) -> UnitID? {
        if let claim = claims[id] { return claim.holder }
        claims[id] = Claim(holder: unit)
        return nil
    }

    /// Who has `id`.
    func holder(of id: String) -> UnitID? { claims[id]?.holder }

    /// `unit` is to end like the one that has `id`.
    mutating func join(_ id: String, _ unit: UnitID) {
        lastPlace += 1
        claims[id]?.joiners[unit] = lastPlace
    }

    /// `unit` has ended by itself.
    mutating func leave(_ id: String, _ unit: UnitID) { claims[id]?.joiners[unit] = nil }

    /// Frees `id`. Returns those that had joined the one that had it, in the order of joining.
    mutating func free(_ id: String) -> [UnitID] {
        guard let claim = claims.removeValue(forKey: id) else { return [] }
        return claim.joiners.sorted { $0.value < $1.value }.map(\.key)
    }
}
