extension Graph {
    /// What cannot be tried again with the end of its net.
    func scopeFaults(_ layout: GraphLayout) -> [AdmissionError] {
        var faults: [AdmissionError] = []
        for node in nodes.indices where nodes[node].hasOptions && nodes[node].options.retriesNet {
            if !nodes[node].isOperation || nodes[node].receives.isEmpty {
                faults.append(fault(node, "has a `retry` with `scope: net`, and receives nothing; let the end of a delivery net have it"))
            } else if let receiver = layout.dependents[node].first(where: { nodes[Int($0)].receives.contains(node) }) {
                faults.append(
                    fault(
                        node,
                        "has a `retry` with `scope: net`, and is not the end of its net: `\(path(of: Int(receiver)))` receives from it;"
                            + " give that the retry"))
            }
        }
        guard let plan = layout.scopes else { return faults }
        for node in nodes.indices {
            if let tail = plan.tail(of: Int32(node)) {
                for inner in layout.subtree(of: node) {
                    for problem in problems(withMember: inner, ofScopeOf: path(of: Int(tail)), layout) {
                        faults.append(fault(inner, problem))
                    }
                }
            } else if !plan.members(of: Int32(node)).isEmpty {
                for inner in layout.subtree(of: node) where nodes[inner].needsSubmitter {
                    faults.append(fault(inner, "\(Self.hostedText); \(Self.remedy(for: path(of: node)))"))
                }
            }
        }
        return faults
    }

    private func problems(withMember node: Int, ofScopeOf tail: String, _ layout: GraphLayout) -> [String] {
        var problems: [String] = []
        let text = "and is tried again with the end of its delivery net, `\(tail)`, which has `retry`"
        if layout.policies?.atMostOnce[node] == true {
            problems.append("has `atMostOnce`, \(text) and would run it again; leave one of them out")
        }
        if !nodes[node].exclusive.isEmpty {
            problems.append(
                "names a lock, \(text): it would be held while others of the net wait for it; name it on a group around the net")
        }
        if nodes[node].unique != nil {
            problems.append("has a unique id, \(text): others would wait for what does not count; give a group around the net the id")
        }
        if nodes[node].needsSubmitter { problems.append("\(Self.hostedText), \(text); \(Self.remedy(for: tail))") }
        return problems
    }

    private static let hostedText = "has code in the process that submitted it"
    private static func remedy(for tail: String) -> String {
        "give each of the net a `retry` of its own instead of `\(tail)`, or let all of it run on workers"
    }
}
