import Foundation

/// An operation may not use a ``Capability``.
public struct CapabilityError: LocalizedError, PortableError, Hashable, Sendable {
    /// Why it may not.
    public enum Reason: Hashable, Sendable, Codable {
        /// The capability does not exist here.
        case unavailable
        /// Its use is not authorized as far as is needed; `status` is the current one, in words.
        case notAuthorized(status: String)
    }

    /// The name of the capability.
    public let capability: String
    public let reason: Reason

    public init(capability: String, reason: Reason) {
        self.capability = capability
        self.reason = reason
    }

    static func unavailable<C: Capability>(_ capability: C) -> AOperationError {
        AOperationError(CapabilityError(capability: C.name, reason: .unavailable))
    }

    static func notAuthorized<C: Capability>(_ capability: C, _ status: C.Status) -> AOperationError {
        AOperationError(CapabilityError(capability: C.name, reason: .notAuthorized(status: "\(status)")))
    }

    public var errorDescription: String? {
        switch reason {
        case .unavailable: "The capability \(capability) is not available here"
        case .notAuthorized(let status): "The capability \(capability) is not authorized: its status is \(status)"
        }
    }
}
