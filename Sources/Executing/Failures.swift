import AOperation
import Foundation
import Wire

/// An error with a failure code of its own.
package protocol CodedFailure: Error {
    /// Says what there is besides its text.
    func describe(in failure: inout WireOperationFailure)
}

/// An error that was born in another process, as it arrived; forwarded it travels on unchanged.
package struct RemoteFailure: LocalizedError, Hashable, Sendable {
    package let failure: WireOperationFailure
    package var errorDescription: String? { failure.message }

    package init(failure: WireOperationFailure) { self.failure = failure }
}

/// How an error of another process came here.
package final class Transit: Sendable {
    package let failure: WireOperationFailure

    package init(_ failure: WireOperationFailure) { self.failure = failure }
}

extension AOperationError {
    /// An error of another process, with the state and publisher it was born with; itself again if its type is known
    /// here.
    package init(_ failure: WireOperationFailure) {
        let state: FailureState = failure.state == .condition ? .condition : .execution
        let publisher = failure.publisher.isEmpty ? nil : failure.publisher
        switch failure.code {
        case .cancelled: self.init(IsCancelled(operation: failure.publisher), state: state, publisher: publisher)
        case .receivedValueIsNil: self.init(ReceivedValueIsNil(operation: failure.publisher), state: state, publisher: publisher)
        case .workerLost:
            self.init(WorkerLost(operation: failure.publisher, reason: failure.message), state: state, publisher: publisher)
        case .quarantined:
            self.init(Quarantined(operation: failure.publisher, reason: failure.message), state: state, publisher: publisher)
        default:
            self.init(
                AOperationError.ofParts(in: failure, { AOperationError($0) }) ?? PortableErrors.error(from: failure.error)
                    ?? RemoteFailure(failure: failure), state: state, publisher: publisher)
        }
        transit = Transit(failure)
    }

    /// The error of a condition that is made of others; nil: it is none.
    package static func ofParts(in failure: WireOperationFailure, _ part: (WireOperationFailure) -> AOperationError) -> (any Error)? {
        guard failure.code == .condition, failure.hasParts else { return nil }
        switch failure.typeName {
        case "AndCondition.Error": return AndCondition.Error(errors: failure.parts.map(part))
        case "OrCondition.Error": return OrCondition.Error(errors: failure.parts.map(part))
        default: return nil
        }
    }
}

extension WireOperationFailure {
    /// Of an alternative without alternatives there are none.
    fileprivate var hasParts: Bool { !parts.isEmpty || typeName == "OrCondition.Error" && error.isEmpty }
}

extension WireOperationFailure {
    /// Error texts are for people; more than this is not read, and would fill the journal.
    private static let messageCharactersMax = 16 * 1024

    /// For a failure that arrived without an error, which no peer should send.
    package static let unknown = WireOperationFailure.with { $0.message = "failed without saying why" }

    /// The wire form of an operation's error. `host` is where it was born, unless it came from elsewhere.
    package init(_ error: AOperationError, host: String) {
        if let transit = error.transit as? Transit {
            self = transit.failure
            return
        }
        if let remote = error.publishedError as? RemoteFailure {
            self = remote.failure
            return
        }
        self.init()
        let published = error.publishedError
        message = String(error.localizedDescription.prefix(Self.messageCharactersMax))
        publisher = error.publisher ?? ""
        state = error.state == .condition ? .condition : .execution
        typeName = String(describing: type(of: published))
        self.error = PortableErrors.image(of: published) ?? Data()
        self.host = host
        switch published {
        case let coded as any CodedFailure: coded.describe(in: &self)
        case is AOperationError.IsCancelled: code = .cancelled
        case is AOperationError.ReceivedValueIsNil: code = .receivedValueIsNil
        case is ClusterCodingError: code = .parameters
        default: code = error.state == .condition ? .condition : .operation
        }
    }

    /// A failure before an operation existed.
    package static func parameters(_ message: String, publisher: String, host: String) -> Self {
        .with {
            $0.code = .parameters
            $0.message = message
            $0.publisher = publisher
            $0.host = host
            $0.typeName = "ClusterCodingError"
        }
    }
}
