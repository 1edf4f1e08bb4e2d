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

    /// What a receiver gets from a unit that has ended, or that a retry scope holds.
    /// - Complexity: O(units below it) for a group.
    func received(from unit: Int) -> Received {
        switch knownOutcome(unit) {
        case .success(let payload)?:
            if case .operation = node(unit).kind { return .value(payload) }
            if let joined = joinedValues[Int32(unit)] { return joined }
            if !wrapped.isEmpty, let child = wrapped[Int32(unit)] { return received(from: Int(child)) }
            return .list(children(of: unit).map { received(from: $0) })
        case .failure?:
            return .failure(failures(of: unit))
        case .cancelled?:
            return .failure([cancelledFailure(unit)])
        case nil:
            preconditionFailure("unit \(unit) of \(id) delivers before it has ended")
        }
    }

    /// The errors of a failed unit: an operation's own; what has ended a group whatever is in it (a timeout, a condition); its failed
    /// children's in child order, then those that it has added itself, then those of its cancelled children and of ignored duplicates.
    /// What a group's own stop cancelled is left out. A list that would be too large to send ends with one that counts the rest.
    func failures(of unit: Int) -> [Failure] {
        var list = FailureList()
        collectFailures(of: unit, into: &list)
        return list.failures
    }

    private func collectFailures(of unit: Int, into list: inout FailureList) {
        guard case .failure(let own)? = knownOutcome(unit) else { return }
        let isAdded = comesAfterChildren(own, of: unit)
        if !isAdded { for failure in own { list.append(failure) } }
        if case .operation = node(unit).kind { return }
        var last: [Int] = []
        let wrapped = self.wrapped.isEmpty ? nil : self.wrapped[Int32(unit)]
        for child in children(of: unit) where wrapped.map({ Int($0) == child }) ?? true {
            switch units[child].outcome {
            case .failure? where isIgnored(child): last.append(child)
            case .failure?: collectFailures(of: child, into: &list)
            case .cancelled? where units[child].stop != .siblingFailed: last.append(child)
            case .cancelled?, .success?, nil: break
            }
        }
        if isAdded { for failure in own { list.append(failure) } }
        for child in last {
            if units[child].outcome == .cancelled { list.append(cancelledFailure(child)) } else { collectFailures(of: child, into: &list) }
        }
    }

    /// Whether errors of a group are those that its decisions have added, and do not say how it has ended: they come in the place of
    /// `aggregateError(_:)` on a queue. A wrapper has the errors of what it stands for, or its own.
    func comesAfterChildren(_ own: [Failure], of group: Int) -> Bool {
        guard rules >= Rules.ordersOwnErrors, let first = own.first, let decider = decider(of: group), wrapped[Int32(group)] == nil else {
            return false
        }
        return first.origin == path(of: decider)
    }

    func cancelledFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        return Failure(
            code: .cancelled, publisher: path, message: "The Operation \(path.isEmpty ? name : path) is Cancelled",
            typeName: "AOperationError.IsCancelled", origin: path
        )
    }

    func timeoutFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        let limit = node(unit).timeoutMilliseconds
        return Failure(
            code: .timeout, publisher: path, message: "timed out after \(Duration.text(milliseconds: limit))",
            typeName: "TimeoutObserver.Error", origin: path, detail: .limit(milliseconds: limit))
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

/// A list of failures that stays small enough to be sent.
private struct FailureList {
    private static let countMax = 100
    private static let bytesMax = 256 * 1024
    private var kept: [Failure] = []
    private var bytes = 0
    private var omitted = 0

    mutating func append(_ failure: Failure) {
        bytes += 64 + failure.message.utf8.count + (failure.stderr?.utf8.count ?? 0) + failure.origin.utf8.count + failure.image.count
        if kept.isEmpty || (kept.count < Self.countMax && bytes <= Self.bytesMax) {
            kept.append(failure)
        } else {
            omitted += 1
        }
    }

    var failures: [Failure] {
        guard omitted > 0, let first = kept.first else { return kept }
        return kept + [
            Failure(
                code: first.code, message: "… and \(omitted) more failure\(omitted == 1 ? "" : "s")", typeName: "MoreFailures",
                origin: first.origin)
        ]
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
