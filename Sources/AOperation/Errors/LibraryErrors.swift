extension PortableErrors {
    /// What every process knows: the library's own errors that something fails with where another process may look at them.
    static let libraryErrors: [any PortableError.Type] = [
        LoadingError.self,
        TimeoutObserver.Error.self, AOperationError.QueueTimeout.self, AOperationError.DeadlinePassed.self,
        AOperationError.IgnoredDuplicate.self, AOperationError.LockCycle.self, AOperationError.DependencyCycle.self,
        NoFailedDependencies.Error.self, NoCancelledDependencies.Error.self, NegatedConditionError.self,
        FalseCondition.Error.self, BlockCondition.Error.self, ReachabilityCondition.Error.self, CapabilityError.self,
        AOperationError.NothingToRun.self, AOperationError.WaitsForItself.self, AOperationError.GateIsClosed.self,
        AOperationError.StepRepeated.self, AOperationError.DeliveryMismatch.self, AOperationError.ResultIsMissing.self,
        AOperationError.ChildOutputMismatch.self, AOperationError.StreamVoided.self, AOperationError.PartialResultsMissed.self,
        AOperationError.IsNotRetryable.self, AddedTooLate.self,
    ]
}

/// An error that names operations, which processes call by different names.
package protocol NamesOperations: Error {
    /// - Parameters:
    ///   - name: what the operation is called here that failed.
    ///   - others: what others are called here that it names.
    mutating func rename(_ name: (String) -> String, others: (String) -> String)
}

extension AOperationError.QueueTimeout: NamesOperations {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) { operation = name(operation) }
}

extension AOperationError.DeadlinePassed: NamesOperations {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) { operation = name(operation) }
}

extension AOperationError.IgnoredDuplicate: NamesOperations {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) { operation = name(operation) }
}

extension AOperationError.NothingToRun: NamesOperations {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) { operation = name(operation) }
}

extension AOperationError.LockCycle: NamesOperations {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) {
        operation = name(operation)
        holders = holders.map(others)
    }
}

extension NoFailedDependencies.Error: NamesOperations {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) {
        failedDependencies = failedDependencies.map(others)
        canceledDependencies = canceledDependencies.map(others)
    }
}

extension NoCancelledDependencies.Error: NamesOperations {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) {
        canceledDependencies = canceledDependencies.map(others)
    }
}
