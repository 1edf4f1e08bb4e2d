/// Holds if a ``Capability`` is available and authorized as far as is needed; permission is asked for first, where it
/// has not been given.
///
/// ```swift
/// record.conditions(AuthorizedFor(Camera()))
/// record.conditions(SilentCondition(AuthorizedFor(Camera())))       // without asking
/// ```
/// Its dependent operation is ``Authorize``: two of them never ask for the same capability at once. Only the asking
/// takes turns, the operations with this condition do not. It fails with ``CapabilityError``.
public struct AuthorizedFor<C: Capability>: AOperationCondition, Sendable {
    private let capability: C

    /// Holds when the program may use `capability`; asks for it where that was not decided yet.
    public init(_ capability: C) {
        self.capability = capability
    }

    public var dependentOperation: AOperation? { Authorize(capability) }

    /// The status decides, whatever became of the asking.
    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        guard capability.isAvailable else { return completion(.failure(CapabilityError.unavailable(capability))) }
        capability.getAuthorizationStatus { [capability] status in
            completion(
                capability.isSufficient(status) ? .success : .failure(CapabilityError.notAuthorized(capability, status)))
        }
    }
}
