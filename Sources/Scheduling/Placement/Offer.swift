/// What a worker host has to offer: of workers that were met ever before it is remembered, so that a graph that none of
/// them could run is refused.
public struct Offer: Hashable, Sendable {
    /// Sorted, each once.
    public private(set) var labels: [String]
    /// Sorted by name.
    public private(set) var resources: [ResourceAmount]

    public init(labels: [String], resources: [ResourceAmount]) {
        self.labels = Set(labels).sorted()
        self.resources = resources.sorted { $0.name < $1.name }
    }

    func satisfies(_ requirements: Requirements) -> Bool {
        requirements.labels.allSatisfy(labels.contains)
            && requirements.resources.allSatisfy { $0.amount <= resources.amount(of: $0.name) }
    }

    /// Whether it has all that the other one has.
    func covers(_ other: Offer) -> Bool { satisfies(Requirements(labels: other.labels, resources: other.resources)) }
}

extension [Offer] {
    /// Why none of these workers could meet `requirements`, and what to do; nil: one could, or none is known.
    func fault(of requirements: Requirements) -> String? {
        guard !isEmpty, !contains(where: { $0.satisfies(requirements) }) else { return nil }
        var gaps: [String] = []
        for resource in requirements.resources {
            let largest = map { $0.resources.amount(of: resource.name) }.max() ?? 0
            guard largest < resource.amount else { continue }
            gaps.append(
                largest == 0
                    ? "none has any `\(resource.name)`"
                    : "the largest has \(ResourceAmount(name: resource.name, amount: largest).text)")
        }
        for label in requirements.labels where !contains(where: { $0.labels.contains(label) }) {
            gaps.append("none has the label `\(label)`")
        }
        if gaps.isEmpty { gaps = ["none has all of it together"] }
        return "requires \(requirements.text), and no worker that was ever there has it: \(gaps.joined(separator: ", "))"
            + "; ask for less, start a worker with `\(requirements.flags)`, or submit with --wait-for-workers"
    }
}
