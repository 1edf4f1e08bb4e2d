/// Finds out how far the use of a ``Capability`` is authorized, without asking for permission.
///
/// ```swift
/// let status = try await GetAuthorizationStatus(Camera()).value(on: queue)
/// ```
/// It fails with ``CapabilityError`` if the capability is not available; a status that is not sufficient is a success.
///
/// Invariant behind `@unchecked Sendable`: the capability is constant.
public final class GetAuthorizationStatus<C: Capability>: ResultableOperation<C.Status>, @unchecked Sendable {
    private let capability: C

    public init(_ capability: C) {
        self.capability = capability
        super.init()
    }

    public override func execute() {
        guard capability.isAvailable else { return finish(with: .failure(CapabilityError.unavailable(capability))) }
        capability.getAuthorizationStatus { [self] status in finish(with: .success(status)) }
    }
}

extension GetAuthorizationStatus: RetryableOperation {
    public func new() -> GetAuthorizationStatus { GetAuthorizationStatus(capability) }
}
