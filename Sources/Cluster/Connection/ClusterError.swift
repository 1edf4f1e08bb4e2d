import Foundation
import Wire

/// Why the coordinator did not do what a client asked.
///
/// `message` says what happened, to which object, and what to do next; it is meant to be shown as it is.
public struct ClusterError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable {
        /// What was given as the coordinator's address is none.
        case address
        /// No coordinator answered within the connect timeout.
        case unreachable
        /// The coordinator refused the connection: another protocol version.
        case version
        /// The cookie or the key is missing or not known to the coordinator, or its role does not allow it.
        case notPermitted
        case notFound
        /// An id prefix that fits several submissions.
        case ambiguous
        /// The graph has faults; `errors` lists them all.
        case refused
        /// The coordinator has no room now; the same request may succeed later.
        case busy
        /// The request makes no sense to the coordinator.
        case malformed
        /// A large value is no longer held by the coordinator, or arrived damaged.
        case valueUnavailable
        /// The connection was closed by this process.
        case closed
        /// These events are being read, or have been, by another loop.
        case alreadyRead
        /// The answer was not of the kind that was asked for.
        case unexpectedAnswer
        /// The coordinator has not heard this process for too long: what it hosted has failed.
        case sessionOver
    }

    /// A fault of a submitted graph, by node index.
    public struct GraphError: Hashable, Sendable {
        /// Index in the graph's pre-order.
        public var node: Int
        public var path: String
        public var message: String

        public init(node: Int, path: String, message: String) {
            self.node = node
            self.path = path
            self.message = message
        }
    }

    public var code: Code
    public var message: String
    /// Of `refused`: every fault of the graph.
    public var errors: [GraphError]

    public init(_ code: Code, _ message: String, errors: [GraphError] = []) {
        self.code = code
        self.message = message
        self.errors = errors
    }

    public var description: String { message }
    public var errorDescription: String? { message }
}

extension ClusterError {
    init(_ failure: WireRequestFailed) {
        let code: Code =
            switch failure.code {
            case .notFound: .notFound
            case .refused: .refused
            case .busy: .busy
            case .notPermitted: .notPermitted
            case .ambiguous: .ambiguous
            case .sessionOver: .sessionOver
            case .malformed, .unspecified, .UNRECOGNIZED: .malformed
            }
        self.init(code, failure.message, errors: failure.errors.map(GraphError.init))
    }

    init(_ refusal: WireRefusal) {
        let code: Code =
            switch refusal.code {
            case .version: .version
            case .cookie, .notPermitted, .revoked: .notPermitted
            case .limit, .unavailable: .busy
            case .superseded: .closed
            case .sessionOver: .sessionOver
            case .malformed, .unspecified, .UNRECOGNIZED: .malformed
            }
        self.init(code, refusal.message)
    }
}

extension ClusterError.GraphError {
    init(_ error: WireAdmissionError) {
        self.init(node: Int(error.node), path: error.path, message: error.message)
    }
}
