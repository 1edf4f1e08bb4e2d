/// What is read while it is sent.
let streamRules: [Rule] = [
    Rule("elementsOfOneAttempt", "A reader sees one attempt; elements are (attempt, index), from the first.") { account in
        account.streamed.flatMap { node, source in
            account.readings[node].compactMap { reading -> Rule.Breach? in
                let run = account.runOfElements(reading, of: source)
                let expected = reading.elements.indices.map { Texts.element($0, of: source, run: run ?? 0) }
                return reading.elements == expected ? nil : .init(node, [reading.place], "has read \(reading.elements)")
            }
        }
    },
    Rule("streamEndsAsItsProducer", "The sequence ends with the success of the producer, and throws the producer's error otherwise.") {
        account in
        account.streamed.flatMap { node, source in
            account.readings[node].compactMap { reading -> Rule.Breach? in
                switch reading.end {
                case .failure(let fault):
                    return account.outcome(source)?.faults.first == fault
                        ? nil : .init(node, [reading.place], "was told \(fault), which is not its producer's error")
                case .complete:
                    let run = account.runOfElements(reading, of: source)
                    let hasSucceeded = account.runs[source].contains {
                        if case .value? = $0.result { $0.number == run ?? $0.number } else { false }
                    }
                    if hasSucceeded, reading.elements.count == account.node(source).script?.elements { return nil }
                    return .init(node, [reading.place], "was told that it has read all")
                case .enough, .stopped: return nil
                }
            }
        }
    },
    Rule("readerCountsWithItsProducer", "Its attempt names the producer's attempt and is given up and started again with it.") {
        account in
        account.streamed.compactMap { node, source -> Rule.Breach? in
            guard account.outcome(node)?.isSuccess == true, let last = account.runs[node].last else { return nil }
            guard let reading = account.readings[node].last(where: { $0.run == last.number }) else { return nil }
            guard let run = account.runOfElements(reading, of: source), run != account.runs[source].last?.number else { return nil }
            return .init(node, [reading.place], "succeeded with elements of run \(run) of its producer, which ran again")
        }
    },
    Rule("readerSucceedsAfterItsProducer", "A success of the receiver counts when the producer has ended.") { account in
        account.streamed.compactMap { node, source -> Rule.Breach? in
            guard account.outcome(node)?.isSuccess == true, let end = account.finish(of: node)?.place else { return nil }
            // Of one that was stopped the outcome comes before the end of the body.
            guard account.outcome(source)?.isSuccess == true || account.origin(of: source) == .body else { return nil }
            guard let last = account.lastWork(inside: source), last > end else { return nil }
            return .init(node, [end, last], "succeeded before \(GraphPlan.name(of: source)) had ended")
        }
    },
]

extension Account {
    /// Receivers of elements and who sends them.
    fileprivate var streamed: [(node: Int, source: Int)] {
        plan.leaves.compactMap { node in self.node(node).source.map { (node, $0) } }
    }

    /// Whose elements these are, by the first one.
    fileprivate func runOfElements(_ reading: Reading, of source: Int) -> Int? {
        guard let first = reading.elements.first else { return nil }
        return runs[source].map(\.number).first { Texts.element(0, of: source, run: $0) == first }
    }
}
