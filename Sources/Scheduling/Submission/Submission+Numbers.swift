/// Numbers of attempts, from 1: what people see, what commands read as `AOP_ATTEMPT`, and under what it is kept what an attempt prints and sends.
/// Reports are told apart by ``Attempt``, of which no two are the same.
extension Submission {
    /// The attempt that was given out last is proven not to have begun: nothing is kept under its number, and the next one gets that.
    mutating func giveBackNumber(of unit: Int) {
        guard units[unit].attempts > 0 else { preconditionFailure("\(path(of: unit)) gives an attempt back and was given out never") }
        units[unit].attempts -= 1
    }

    /// The current attempt of the unit is lost.
    mutating func giveBackNumber(of unit: Int, after cause: LossCause) {
        // An evaluation of conditions has none. A receiver that was told to stop with its producer has been told so under it.
        guard cause == .released, !units[unit].isEvaluating, units[unit].stop != .streamVoided else { return }
        giveBackNumber(of: unit)
    }
}
