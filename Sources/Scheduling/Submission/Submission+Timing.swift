/// When units may start.
extension Submission {
    /// Everything is over that the unit waits for, but its own delay and its group's limit: while it is delayed it takes
    /// no place of its group.
    mutating func approach(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard let until = delayEnd(unit, at) else { return enter(unit, at, &effects) }
        units[unit].phase = .delayed(until: until)
        effects.append(.delayed(id(unit), until: until))
    }

    mutating func endDelay(_ unit: Int, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard case .delayed = units[unit].phase else {
            throw FactMismatch("the delay of \(path(of: unit)) ended while it did not wait for that")
        }
        enter(unit, at, &effects)
        settle(at: at, &effects)
    }

    /// The wall time at which the delay of a unit that waits for nothing else since `at` is over; nil: it need not wait.
    private func delayEnd(_ unit: Int, _ at: Int64) -> Int64? {
        guard layout.graph.nodes[Int(units[unit].node)].hasOptions else { return nil }
        let options = layout.graph.nodes[Int(units[unit].node)].options
        guard options.delayMilliseconds > 0 || options.notBefore > at else { return nil }
        // There is nothing to delay.
        guard forwardedFailure(unit) == nil else { return nil }
        return at + options.delayMilliseconds
    }
}
