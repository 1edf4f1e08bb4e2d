extension PortableErrors {
    /// What every process knows: the library's own errors that something fails with where another process may look at them.
    static let libraryErrors: [any PortableError.Type] = [
        LoadingError.self,
        AOperationError.IsCancelled.self, AOperationError.ReceivedValueIsNil.self, AOperationError.WorkerLost.self,
        AOperationError.Quarantined.self, SubmitterGone.self,
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

/// An error that names the operation that failed, and no other.
package protocol NamesItsOperation: NamesOperations {
    var operation: String { get set }
}

extension NamesItsOperation {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) { operation = name(operation) }
}

extension AOperationError.IsCancelled: NamesItsOperation {}
extension AOperationError.ReceivedValueIsNil: NamesItsOperation {}
extension AOperationError.ResultIsMissing: NamesItsOperation {}
extension AOperationError.WorkerLost: NamesItsOperation {}
extension AOperationError.Quarantined: NamesItsOperation {}
extension SubmitterGone: NamesItsOperation {}
extension AOperationError.QueueTimeout: NamesItsOperation {}
extension AOperationError.DeadlinePassed: NamesItsOperation {}
extension AOperationError.IgnoredDuplicate: NamesItsOperation {}
extension AOperationError.NothingToRun: NamesItsOperation {}
extension AOperationError.WaitsForItself: NamesItsOperation {}
extension AOperationError.GateIsClosed: NamesItsOperation {}

extension AOperationError.StepRepeated: NamesOperations {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) { sequence = name(sequence) }
}

extension AOperationError.ChildOutputMismatch: NamesOperations {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) { group = others(group) }
}

extension AOperationError.DeliveryMismatch: NamesOperations {
    package mutating func rename(_ name: (String) -> String, others: (String) -> String) {
        producer = others(producer)
        receiver = name(receiver)
    }
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
