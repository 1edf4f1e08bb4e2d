/// Which failures are worth another attempt.
extension Submission {
    /// The error that leads, if it is one of those that the unit is tried again for; nil: it is not. Of a group that is the first one it
    /// would have failed with.
    func worthRetry(_ unit: Int, _ failures: [Failure]) -> Failure? {
        guard let leading = leadingFailure(of: unit, failures) else { return nil }
        let node = Int(units[unit].node)
        guard layout.graph.nodes[node].hasOptions else { return leading }
        let reasons = layout.graph.nodes[node].options.retryOn
        return reasons.isEmpty || reasons.contains { $0.fits(leading) } ? leading : nil
    }

    /// - Parameter own: the unit's own errors.
    func leadingFailure(of unit: Int, _ own: [Failure]) -> Failure? {
        if comesAfterChildren(own, of: unit) { return failureOfChildren(of: unit) ?? own.first }
        return own.first ?? leadingFailure(ofChildrenOf: unit)
    }

    /// That of the first failed child.
    func failureOfChildren(of unit: Int) -> Failure? {
        for child in children(of: unit) {
            if case .failure? = units[child].outcome, !isIgnored(child) { return failures(of: child).first }
        }
        return nil
    }

    private func leadingFailure(ofChildrenOf unit: Int) -> Failure? {
        if let failure = failureOfChildren(of: unit) { return failure }
        let children = children(of: unit)
        for child in children {
            switch units[child].outcome {
            case .failure?: return failures(of: child).first
            case .cancelled? where units[child].stop != .siblingFailed: return cancelledFailure(child)
            case .cancelled?, .success?, nil: break
            }
        }
        return nil
    }
}
