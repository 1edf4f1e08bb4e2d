import Scheduling
import Wire

/// What was produced under an id is there when its producer is told so, and when that has succeeded; and there once.
extension Witness {
    func produces(_ id: String, _ assignment: WireAssignment) { produced[assignment.attempt, default: []].append(id) }

    /// An executor is told what has become of what an attempt has produced.
    func told(_ receipt: WireProductReceipt) {
        let (unit, attempt) = (UnitID(rawValue: receipt.unit), Attempt(rawValue: receipt.attempt))
        guard receipt.fresh, running[receipt.attempt] != nil, disk.isOpen(unit, under: attempt),
            let ids = produced[receipt.attempt], ids.indices.contains(Int(receipt.number))
        else { return }
        checkProduct(ids[Int(receipt.number)], of: unit, "is acknowledged")
    }

    /// The end of the attempt has come to the disk.
    func wroteEnd(of unit: UnitID, _ attempt: Attempt, _ outcome: AttemptOutcome) {
        switch outcome {
        case .success, .production: break
        default: return
        }
        guard let ids = produced[attempt.rawValue], disk.state(of: unit) == .succeeded else { return }
        for id in ids { checkProduct(id, of: unit, "is of a success") }
    }

    private func checkProduct(_ id: String, of unit: UnitID, _ what: String) {
        if !disk.isProduced(id, around: unit) { world.violate("`\(id)` of \(disk.name(of: unit)) \(what), and is not on the disk") }
    }
}
