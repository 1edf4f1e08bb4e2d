import AOperation
import Foundation
import Wire

/// An error with a failure code of its own.
package protocol CodedFailure: Error {
    /// Says what there is besides its text.
    func describe(in failure: inout WireOperationFailure)
}

/// How an error of another process came here.
package final class Transit: Sendable {
    package let failure: WireOperationFailure
    /// The graph of this program to which it came; nil: to a worker.
    package let graph: HostedErrors.GraphNumber?

    package init(_ failure: WireOperationFailure, to graph: HostedErrors.GraphNumber? = nil) {
        self.failure = failure
        self.graph = graph
    }
}

extension AOperationError {
    /// An error of another process, with the state and publisher it was born with; itself again if its type is known here.
    package init(_ failure: WireOperationFailure) {
        self.init(
            failure.publishedError(), state: failure.state == .condition ? .condition : .execution,
            publisher: failure.publisher.isEmpty ? nil : failure.publisher)
        transit = Transit(failure)
    }

    /// The error of a condition that is made of others; nil: it is none.
    fileprivate static func ofParts(in failure: WireOperationFailure, _ part: (WireOperationFailure) -> AOperationError) -> (any Error)? {
        guard failure.hasParts else { return nil }
        switch failure.typeName {
        case "AndCondition.Error": return AndCondition.Error(errors: failure.parts.map(part))
        case "OrCondition.Error": return OrCondition.Error(errors: failure.parts.map(part))
        default: return nil
        }
    }
}

extension WireOperationFailure {
    /// The error that was published: of the library's own types, or of one that this process has registered; else a `RemoteError`.
    ///
    /// - Parameters:
    ///   - name: what the operation is called here in which it was born.
    ///   - others: what others are called here.
    ///   - part: the errors of which it is made.
    package func publishedError(
        name: (String) -> String = { $0 }, others: (String) -> String = { $0 },
        part: (WireOperationFailure) -> AOperationError = { AOperationError($0) }
    ) -> any Error {
        if let error = AOperationError.ofParts(in: self, part) { return error }
        if let error = PortableErrors.error(from: self.error) {
            guard var naming = error as? any NamesOperations else { return error }
            naming.rename(name, others: others)
            return naming
        }
        return switch code {
        case .cancelled: AOperationError.IsCancelled(operation: name(publisher))
        case .receivedValueIsNil: AOperationError.ReceivedValueIsNil(operation: name(publisher))
        case .workerLost: AOperationError.WorkerLost(operation: name(publisher), reason: message)
        case .quarantined: AOperationError.Quarantined(operation: name(publisher), reason: message)
        case .submitterGone: SubmitterGone(operation: name(publisher), reason: message)
        default: RemoteError(self)
        }
    }

    /// Of an alternative without alternatives there are none.
    fileprivate var hasParts: Bool { !parts.isEmpty || code == .condition && typeName == "OrCondition.Error" && error.isEmpty }
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
        self.init()
        let published = error.publishedError
        message = String(error.localizedDescription.prefix(Self.messageCharactersMax))
        publisher = error.publisher ?? ""
        state = error.state == .condition ? .condition : .execution
        typeName = String(describing: type(of: published))
        self.error = PortableErrors.image(of: published) ?? Data()
        self.host = host
        switch published {
        case let composed as AndCondition.Error: setParts(composed.errors, "AndCondition.Error", host)
        case let composed as OrCondition.Error: setParts(composed.errors, "OrCondition.Error", host)
        default: break
        }
        switch published {
        case let coded as any CodedFailure: coded.describe(in: &self)
        case is AOperationError.IsCancelled: code = .cancelled
        case is AOperationError.ReceivedValueIsNil: code = .receivedValueIsNil
        case is ClusterCodingError: code = .parameters
        default: code = error.state == .condition ? .condition : .operation
        }
    }

    /// The error of a condition that does not hold: its text is the reason.
    package init(answering error: AOperationError) {
        self.init(error, host: "")
        message = ""
    }

    private static let partsMax = 64

    private mutating func setParts(_ errors: [AOperationError], _ name: String, _ host: String) {
        typeName = name
        parts = errors.prefix(Self.partsMax).map { WireOperationFailure($0, host: host) }
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
