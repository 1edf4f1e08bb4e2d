import Scheduling

/// What hosts offer that is counted, and what operations take of it.
extension RandomWork {
    /// Of what hosts have: how much the first one has at most.
    private static let offers: [(name: String, most: Int64, unit: Int64)] = [
        ("cpus", 4, 1), ("gpus", 2, 1), ("memory", 3, 1 << 30), ("seats", 3, 1),
    ]

    /// What the first host has: all that operations of the run ask for, so that nothing waits for ever.
    static func largestOffer(using random: inout SimulationRandom) -> [ResourceAmount] {
        offers.map { ResourceAmount(name: $0.name, amount: $0.unit * (1 + random.below($0.most))) }
    }

    /// - Returns: what the host of this number has.
    func offer(ofHost number: Int, using random: inout SimulationRandom) -> [ResourceAmount] {
        guard features.contains(.resources) else { return [] }
        guard number > 0 else { return largestOffer }
        return largestOffer.compactMap { resource in
            let part = random.below(3)
            return part == 0 ? nil : ResourceAmount(name: resource.name, amount: part == 1 ? max(1, resource.amount / 2) : resource.amount)
        }
    }

    /// A group hands on what it requires; what is inside may take that back.
    func requirements(of node: Node, using random: inout SimulationRandom) -> Requirements {
        var resources: [ResourceAmount] = []
        for most in largestOffer where random.oneIn(3) {
            let amount = random.oneIn(8) ? 0 : Self.share(of: most, using: &random)
            resources.append(ResourceAmount(name: most.name, amount: amount))
        }
        return Requirements(labels: node.options.requires.labels, resources: resources)
    }

    private static func share(of most: ResourceAmount, using random: inout SimulationRandom) -> Int64 {
        // Of memory any number of bytes.
        guard most.amount < 1_024 else { return most.amount / (1 + random.below(Int64(4))) - random.below(Int64(100)) }
        return random.oneIn(3) ? most.amount : 1 + random.below(most.amount)
    }
}
