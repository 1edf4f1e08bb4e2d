/// What units deliver, and how failures read.
extension Submission {
    /// The failure that the unit ends with because a producer failed and it forwards that; nil: it runs.
    func forwardedFailure(_ unit: Int) -> [Failure]? {
        node(unit).forwardsFailure ? firstFailure(ofProducersOf: unit) : nil
    }

    /// Failure of the first failed producer in declared order.
    func firstFailure(ofProducersOf unit: Int) -> [Failure]? {
        for producer in node(unit).receives {
            if case .failure(let failures) = received(from: self.unit(ofNode: producer, seenFrom: unit)) { return failures }
        }
        return nil
    }

    /// What a receiver gets from an ended unit.
    /// - Complexity: O(units below it) for a group.
    func received(from unit: Int) -> Received {
        switch units[unit].outcome {
        case .success(let payload)?:
            if case .operation = node(unit).kind { return .value(payload) }
            return .list(children(of: unit).map { received(from: $0) })
        case .failure?:
            return .failure(failures(of: unit))
        case .cancelled?:
            return .failure([cancelledFailure(unit)])
        case nil:
            preconditionFailure("unit \(unit) of \(id) delivers before it has ended")
        }
    }

    /// The errors of a failed unit: an operation's own; a group's own, then its failed children's in child order,
    /// then its cancelled children's. What a group's own stop cancelled is left out.
    func failures(of unit: Int) -> [Failure] {
        guard case .failure(let own)? = units[unit].outcome else { return [] }
        if case .operation = node(unit).kind { return own }
        var failures = own
        var cancelled: [Failure] = []
        for child in children(of: unit) {
            switch units[child].outcome {
            case .failure?: failures += self.failures(of: child)
            case .cancelled? where units[child].stop != .siblingFailed: cancelled.append(cancelledFailure(child))
            case .cancelled?, .success?, nil: break
            }
        }
        return failures + cancelled
    }

    func cancelledFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        return Failure(
            code: .cancelled, publisher: path, message: "The operation \(path.isEmpty ? name : path) is cancelled",
            typeName: "AOperationError.IsCancelled", origin: path
        )
    }

    func timeoutFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        return Failure(
            code: .timeout, publisher: path, message: "timed out after \(Duration.text(milliseconds: node(unit).timeoutMilliseconds))",
            typeName: "TimeoutObserver.Error", origin: path
        )
    }

    func workerLostFailure(_ unit: Int, crashes: Int) -> Failure {
        let path = path(of: unit)
        return Failure(
            code: .workerLost, publisher: path,
            message: "its worker process died under it \(crashes) times; see the worker's log for the cause",
            typeName: "WorkerLost", origin: path
        )
    }

    /// forEach elements around the unit, innermost last.
    func bindings(of unit: Int) -> [Binding] {
        var bindings: [Binding] = []
        var current = unit
        while units[current].parent >= 0 {
            let parent = Int(units[current].parent)
            if case .forEach(let forEach) = node(parent).kind {
                let position = Int(units[current].position)
                let element = forEach.elements?[position] ?? elements[Int32(parent)]?[position] ?? []
                bindings.append(Binding(name: forEach.name, index: position, element: element))
            }
            current = parent
        }
        return bindings.reversed()
    }
}

enum Duration {
    /// "90 s", "1.5 s", "250 ms"
    static func text(milliseconds: Int64) -> String {
        guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
        let seconds = milliseconds / 1_000
        var rest = milliseconds % 1_000
        guard rest > 0 else { return "\(seconds) s" }
        var digits = 3
        while rest.isMultiple(of: 10) {
            rest /= 10
            digits -= 1
        }
        let fraction = String(rest)
        return "\(seconds).\(String(repeating: "0", count: digits - fraction.count))\(fraction) s"
    }
}
