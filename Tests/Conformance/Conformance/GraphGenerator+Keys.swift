/// Submissions under a key.
extension GraphGenerator {
    /// Lets the program submit the graph once more, as one does who has not heard that it was taken.
    mutating func submitTwice() {
        guard features.contains(.submissionKeys) else { return }
        var random = numbers(of: .submissionKeys)
        // What the program does is done by the operations that were submitted first; and another date makes another graph.
        let isElsewhere = plan.nodes.indices.allSatisfy { node in
            let planned = plan.nodes[node]
            if case .notBefore? = planned.start { return false }
            return !planned.isWrapper && !planned.holdsEnd && !planned.asksAboutRetry && !plan.evaluatesInTheProgram(node)
        }
        let isCancelledAtOnce = plan.cancellations.contains { [.onceAdded, .beforeTheQueue].contains($0.moment) }
        plan.isSubmittedTwice = isElsewhere && !isCancelledAtOnce && random.chance(0.7)
    }
}
