import Scheduling
import Wire

/// What runs on one host has together no more than that host offers, and of what is numbered each its own.
///
/// What was given up because its executor could not be heard may go on, and use what another one has by then, as decision 14 says: it
/// is not counted.
extension Witness {
    func checkResources(_ body: SimulatedExecutor.Body, in executor: SimulatedExecutor) {
        let name = "\(body.assignment.submission)/\(body.assignment.path)"
        if body.assignment.kind == .execute { checkRequirements(body.assignment, name, on: executor.host) }
        guard !body.assignment.resources.isEmpty, !givenUp.contains(body.assignment.attempt) else { return }
        let others = running.values.filter { $0.executor.host === executor.host && !givenUp.contains($0.body.assignment.attempt) }
            .flatMap(\.body.assignment.resources)
        for resource in body.assignment.resources {
            func complain(_ text: String) { world.violate("\(name) begins with \(resource.amount) of `\(resource.name)`, \(text)") }
            let offered = UInt64(executor.host.offer.first { $0.name == resource.name }?.amount ?? 0)
            let taken = others.filter { $0.name == resource.name }
            let sum = taken.reduce(0) { $0 + $1.amount }
            if sum + resource.amount > offered { complain("where \(sum) of \(offered) are taken on h\(executor.host.number)") }
            let isNumbered = resource.name != "memory"
            if isNumbered, resource.indices.count != Int(resource.amount) { complain("and has \(resource.indices.count) numbers of it") }
            for index in resource.indices {
                if UInt64(index) >= offered { complain("and has the number \(index), where there are \(offered)") }
                if taken.contains(where: { $0.indices.contains(index) }) { complain("and has the number \(index), as another one has") }
            }
        }
    }

    /// It begins where there is what its node asks for, and has that.
    private func checkRequirements(_ assignment: WireAssignment, _ name: String, on host: SimulatedHost) {
        guard !host.isOfSubmitter, let graph = graphs[assignment.submission],
            let node = graph.nodes.indices.first(where: { graph.path(of: $0) == assignment.path && graph.isStatic($0) })
        else { return }
        let required = graph.requirements(of: node)
        for label in required.labels where !host.labels.contains(label) {
            world.violate("\(name) begins on h\(host.number), which has not the label `\(label)`")
        }
        let has = assignment.resources.map { ResourceAmount(name: $0.name, amount: Int64($0.amount)) }
        if has != required.resources { world.violate("\(name) requires \(required.resources), and begins with \(has)") }
    }
}

extension Graph {
    /// What an operation needs: labels add up, of amounts the innermost counts, and 0 of that is nothing.
    fileprivate func requirements(of node: Int) -> (labels: Set<String>, resources: [ResourceAmount]) {
        var labels: Set<String> = []
        var amounts: [String: Int64] = [:]
        var next = node
        while true {
            let requires = nodes[next].options.requires
            labels.formUnion(requires.labels)
            for resource in requires.resources where amounts[resource.name] == nil { amounts[resource.name] = resource.amount }
            if next == 0 { break }
            next = nodes[next].parent
        }
        let resources = amounts.filter { $0.value > 0 }.map { ResourceAmount(name: $0.key, amount: $0.value) }
        return (labels, resources.sorted { $0.name < $1.name })
    }
}
