/// Who was cancelled by somebody, and why: for those who look.
extension Submission {
    /// What was said of the whole; empty: nothing, or nobody has cancelled it.
    var cancelReason: String { cancellations[0] ?? "" }

    /// Somebody cancels the unit. What is cancelled already keeps that it was, and hears a reason that comes later.
    mutating func noteCancellation(of unit: Int, _ reason: String) {
        guard units.indices.contains(unit), !units[unit].hasEnded else { return }
        guard let said = cancellations[Int32(unit)] else {
            if units[unit].stop != .cancelled { cancellations[Int32(unit)] = reason }
            return
        }
        if !reason.isEmpty, reason != said { cancellations[Int32(unit)] = reason }
    }

    /// The unit begins anew: what was said of its last round is over.
    mutating func forgetCancellation(of unit: Int) {
        if !cancellations.isEmpty { cancellations[Int32(unit)] = nil }
    }

    /// What was said when the unit was cancelled, by itself or with what it is in; nil: nobody has.
    func cancelReason(around unit: Int) -> String? {
        guard !cancellations.isEmpty else { return nil }
        var around = unit
        while around >= 0 {
            if let reason = cancellations[Int32(around)] { return reason }
            around = Int(units[around].parent)
        }
        return nil
    }
}
