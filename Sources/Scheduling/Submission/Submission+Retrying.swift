/// Which failures are worth another attempt.
extension Submission {
    /// The error that leads, if it is one of those that the unit is tried again for; nil: it is not. Of a group without an
    /// error of its own that is the one it would have failed with.
    func worthRetry(_ unit: Int, _ failures: [Failure]) -> Failure? {
        guard let leading = failures.first ?? leadingFailure(ofChildrenOf: unit) else { return nil }
        let node = Int(units[unit].node)
        guard layout.graph.nodes[node].hasOptions else { return leading }
        let reasons = layout.graph.nodes[node].options.retryOn
        return reasons.isEmpty || reasons.contains { $0.fits(leading) } ? leading : nil
    }

    func leadingFailure(ofChildrenOf unit: Int) -> Failure? {
        let children = children(of: unit)
        for child in children {
            if case .failure? = units[child].outcome, !isIgnored(child) { return failures(of: child).first }
        }
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
