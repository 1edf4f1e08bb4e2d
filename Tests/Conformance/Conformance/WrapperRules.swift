/// Operations that make others when they execute.
let wrapperRules: [Rule] = [
    Rule("wrapperEndsAsItsPart", "It ends with the value of the generated operation, or with its errors, which keep state and publisher.") {
        account in
        account.wrappers.compactMap { wrapper -> Rule.Breach? in
            guard let part = account.plan.children(of: wrapper).last, let outcome = account.outcome(wrapper) else { return nil }
            switch outcome {
            case .success: return account.outcome(part) == outcome ? nil : .init(wrapper, "succeeded otherwise than what it has made")
            case .failure(let faults):
                guard !account.endedByItself(wrapper) else { return nil }
                guard let end = account.outcome(part), !end.isSuccess, end.faults == faults else {
                    return .init(wrapper, "failed with \(faults), and what it has made did not")
                }
                return nil
            // A rule of its own.
            case .cancelled: return nil
            }
        }
    },
    Rule("wrapperEndsLast", "It ends when all that it has made has ended; cancelled or timed out at once, and its body with that.") {
        account in
        account.wrappers.flatMap { wrapper -> [Rule.Breach] in
            guard let finish = account.finish(of: wrapper) else { return [] }
            let isAsItsPart = !finish.outcome.isCancelled && !account.endedByItself(wrapper)
            let end = isAsItsPart ? finish.place : account.over[wrapper] ?? .max
            return account.children(of: wrapper).compactMap { part -> Rule.Breach? in
                let last = max(isAsItsPart ? account.finish(of: part)?.place ?? -1 : -1, account.lastCertainWork(of: part) ?? -1)
                return last > end ? .init(wrapper, [end, last], "ended before \(GraphPlan.name(of: part))") : nil
            }
        }
    },
    Rule("generatedOnce", "Its generator is called once, when it executes, with what it received; what it has made runs, nothing else.") {
        account in
        account.wrappers.compactMap { wrapper -> Rule.Breach? in
            let generated = account.generated[wrapper]
            guard generated.count < 2 else { return .init(wrapper, generated.map(\.place), "made its operation twice") }
            guard let made = generated.first else {
                let isDone = account.outcome(wrapper)?.isSuccess == true || account.firstWork(ofPartsOf: wrapper) != nil
                return isDone ? .init(wrapper, "has made nothing, and something of it was done") : nil
            }
            let expected = account.delivery(to: wrapper)
            if made.received != expected {
                return .init(
                    wrapper, [made.place],
                    "received \(made.received.map { "\($0)" } ?? "nothing") in place of \(expected.map { "\($0)" } ?? "nothing")")
            }
            if let first = account.firstWork(ofPartsOf: wrapper), first < made.place {
                return .init(wrapper, [first, made.place], "something of it was done before it was made")
            }
            let isRefused = account.endedByItself(wrapper) && account.outcome(wrapper)?.faults.first?.isOfCondition == true
            return isRefused ? .init(wrapper, [made.place], "has made something although its condition did not hold") : nil
        }
    },
]

extension Account {
    fileprivate var wrappers: [Int] { plan.nodes.indices.filter { plan.nodes[$0].isWrapper } }

    fileprivate func firstWork(ofPartsOf wrapper: Int) -> Int? { plan.children(of: wrapper).compactMap { firstWork(inside: $0) }.min() }

    /// Where its last body was over whose process was not killed.
    fileprivate func lastCertainWork(of part: Int) -> Int? { runs[part].filter { !$0.isDoubtful }.map(\.end).max() }
}
