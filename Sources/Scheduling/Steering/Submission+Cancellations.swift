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

    /// Whether the unit, whose group begins anew, is to end as it did, as somebody has cancelled it. What is done before conditions is
    /// made anew for each attempt.
    func keepsCancellation(_ unit: Int) -> Bool {
        guard rules >= Rules.keepsSteering, cancellations[Int32(unit)] != nil else { return false }
        guard !layout.preparations.isEmpty else { return true }
        var around = unit
        while around >= 0 {
            if isPreparation(around) { return false }
            around = Int(units[around].parent)
        }
        return true
    }

    /// A group begins anew: what somebody has cancelled in it ends before that. Nothing of it is to start any more, as was told.
    mutating func endCancelled(in group: Int) {
        guard rules >= Rules.keepsSteering, !cancellations.isEmpty, !node(group).isOperation else { return }
        for inner in (group + 1)..<(group + Int(layout.subtreeUnits[Int(units[group].node)])) where cancellations[Int32(inner)] != nil {
            work.append(.stop(Int32(inner), .cancelled))
        }
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
