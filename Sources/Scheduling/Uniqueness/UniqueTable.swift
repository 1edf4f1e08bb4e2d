/// The unique ids of the cluster, with the units that have them until they have ended, and those that have joined these.
///
/// An id is its principal's: who joins another one sees its value, and who has an id keeps others from it, which are none of
/// another principal's business.
struct UniqueTable {
    struct Key: Hashable {
        /// Whose submission it is in; empty: the coordinator's own user.
        let principal: String
        let id: String
    }

    struct Claim {
        let holder: UnitID
        /// With their places in the order of joining.
        var joiners: [UnitID: UInt64] = [:]
    }

    /// Looked up, never iterated.
    var claims: [Key: Claim] = [:]
    var lastPlace: UInt64 = 0

    /// Claims `id` for `unit`. Returns nil if it has it now, else the unit that has it.
    mutating func claim(_ id: Key, for unit: UnitID) -> UnitID? {
        if let claim = claims[id] { return claim.holder }
        claims[id] = Claim(holder: unit)
        return nil
    }

    /// Who has `id`.
    func holder(of id: Key) -> UnitID? { claims[id]?.holder }

    /// `unit` is to end like the one that has `id`.
    mutating func join(_ id: Key, _ unit: UnitID) {
        lastPlace += 1
        claims[id]?.joiners[unit] = lastPlace
    }

    /// `unit` has ended by itself.
    mutating func leave(_ id: Key, _ unit: UnitID) { claims[id]?.joiners[unit] = nil }

    /// Frees `id`. Returns those that had joined the one that had it, in the order of joining.
    mutating func free(_ id: Key) -> [UnitID] {
        guard let claim = claims.removeValue(forKey: id) else { return [] }
        return claim.joiners.sorted { $0.value < $1.value }.map(\.key)
    }

    /// Layouts of a snapshot before 3 do not say whose the ids are: of the submission that has them.
    mutating func assign(_ id: String, of holder: UnitID, to principal: String) {
        let unassigned = Key(principal: "", id: id)
        guard !principal.isEmpty, let claim = claims[unassigned], claim.holder == holder else { return }
        claims[unassigned] = nil
        claims[Key(principal: principal, id: id)] = claim
    }
}
