/// What a worker must have to run an operation of a ``ClusterQueue``.
package struct WorkerRequirements {
    package var labels: [String] = []
    /// By name; of `memory` bytes.
    package var resources: [String: Int] = [:]
}

/// What an operation has of its worker's host while it executes.
public struct AssignedResource: Hashable, Sendable {
    /// Of `memory` bytes.
    public let amount: Int
    /// Which of them, from 0, no other operation on the host has meanwhile; empty for what is only counted (`memory`, and
    /// amounts above 1,024).
    public let indices: [Int]

    package init(amount: Int, indices: [Int]) {
        self.amount = amount
        self.indices = indices
    }
}

extension AOperation {
    /// Says what a worker of the cluster must have to run the operation: all these labels, and so much of its host that
    /// no other operation has. On a group: what everything inside of it requires, unless it says otherwise itself; an
    /// amount of 0 says that it requires none.
    ///
    /// A worker says what it has with `--label` and `--resource`. In an `AOperationQueue` this means nothing.
    /// ```swift
    /// Train(parameters).requires(gpus: 2, memory: 8 << 30, labels: ["zone=a"])
    /// ```
    /// - Parameters:
    ///   - memory: in bytes.
    ///   - resources: others, by the names that the workers' operator gave them: lower-case letters, digits and `_`.
    @discardableResult
    public final func requires(
        cpus: Int? = nil, gpus: Int? = nil, memory: Int? = nil, labels: [String] = [], resources: [String: Int] = [:]
    ) -> Self {
        let isMirror = withAttachments { attachments in
            guard attachments.remote == nil else { return true }
            attachments.requirements.labels += labels
            attachments.requirements.resources.merge(resources) { $1 }
            for (name, amount) in [("cpus", cpus), ("gpus", gpus), ("memory", memory)] {
                if let amount { attachments.requirements.resources[name] = amount }
            }
            return false
        }
        if isMirror { tooLate("`requires`") }
        return self
    }

    /// What the operation has of a resource of its host, e.g. `gpus`: while it executes on a worker of a cluster, if it
    /// requires some. Nil otherwise.
    public final func assignedResource(_ name: String) -> AssignedResource? {
        attachment { $0.assignedResources[name] }
    }

    /// Takes over what was given out elsewhere on behalf of this operation.
    package final func adopt(_ resources: [String: AssignedResource]) {
        guard !resources.isEmpty else { return }
        withAttachments { $0.assignedResources = resources }
    }
}
