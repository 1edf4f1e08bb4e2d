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

    /// Says that the operation must never run twice on a cluster, whatever becomes of its worker: lost when it may have begun,
    /// it fails with ``AOperationError/WorkerLost`` instead of running elsewhere. On a group: everything inside of it.
    ///
    /// It is not tried again: ``retry(_:)`` on it, inside of it or around it is refused when the graph is submitted, and
    /// `retryOnFailure` is not asked. In an `AOperationQueue`, where no worker is lost, this means nothing.
    /// ```swift
    /// Transfer(parameters).atMostOnce()
    /// ```
    @discardableResult
    public final func atMostOnce() -> Self {
        let isMirror = withAttachments { attachments in
            guard attachments.remote == nil else { return true }
            attachments.isAtMostOnce = true
            return false
        }
        if isMirror { tooLate("`atMostOnce`") }
        return self
    }

    /// Says that the operation may run again on a cluster without harm, also after it has succeeded: that it computes something, and changes
    /// nothing outside. On a group: everything inside of it.
    ///
    /// Operations of this kind that follow one another then need not wait for the disk: a worker on which one has succeeded begins the next
    /// one at once, with its value, and tells of both. So short ones cost a tenth of what they do otherwise. That holds where both stand in
    /// one group, the next one waits for nothing else, and has no condition, lock, unique id, time limit or requirement of its own. If the
    /// worker is lost meanwhile, those whose values were not kept run again. It excludes ``atMostOnce()``. In an
    /// `AOperationQueue` this means nothing.
    /// ```swift
    /// OrderedGroupOperation(Parse(text), Score(), Rank()).recomputable()
    /// ```
    @discardableResult
    public final func recomputable() -> Self {
        let isMirror = withAttachments { attachments in
            guard attachments.remote == nil else { return true }
            attachments.isRecomputable = true
            return false
        }
        if isMirror { tooLate("`recomputable`") }
        return self
    }

    /// Says how many processes of workers may die under the operation on a cluster before it fails with
    /// ``AOperationError/WorkerLost``; without it as the group says that it is in, else 5. On a group: of everything inside that
    /// has no limit of its own.
    ///
    /// Lower it for what is expensive to lose, raise it for what often dies through no fault of its own, of memory for instance. In an
    /// `AOperationQueue`, where no worker dies, this means nothing.
    /// ```swift
    /// Render(scene).crashLimit(2)
    /// ```
    /// - Parameter count: from 1 to 1,000; another one is refused when the graph is submitted.
    @discardableResult
    public final func crashLimit(_ count: Int) -> Self {
        let isMirror = withAttachments { attachments in
            guard attachments.remote == nil else { return true }
            attachments.crashLimit = count
            return false
        }
        if isMirror { tooLate("`crashLimit`") }
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
