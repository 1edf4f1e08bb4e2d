import AOperation
import Wire

/// What an attempt has of its host's resources, by name.
struct HeldResources: Sendable, Equatable {
    let resources: [String: AssignedResource]

    /// What CUDA looks at.
    static let devicesName = "CUDA_VISIBLE_DEVICES"

    init(_ resources: [String: AssignedResource] = [:]) { self.resources = resources }

    init(_ resources: [WireAssignedResource]) {
        self.resources = Dictionary(
            resources.map { ($0.name, AssignedResource(amount: Int(clamping: $0.amount), indices: $0.indices.map { Int($0) })) }
        ) { $1 }
    }

    /// What a command is told: of each resource the numbers of those that are its own, or how much there is of what has no
    /// numbers. Names are such that no two become one variable.
    ///
    /// - Parameter devices: which devices the worker itself may use, if somebody has said: its first GPU is the first of
    ///   these.
    func environment(devices: String? = nil) -> [String: String] {
        var environment: [String: String] = [:]
        for (name, resource) in resources {
            let numbers = resource.indices.map { "\($0)" }
            environment["AOP_RESOURCE_\(name.uppercased())"] = numbers.isEmpty ? "\(resource.amount)" : numbers.joined(separator: ",")
            guard name == "gpus", !numbers.isEmpty else { continue }
            let own = (devices ?? "").split(separator: ",").map(String.init)
            environment[Self.devicesName] = resource.indices.map { own.indices.contains($0) ? own[$0] : "\($0)" }.joined(separator: ",")
        }
        return environment
    }
}
