import AOperation
import Executing
import Foundation
import Testing
import TrialOperations
import Wire

@testable import Cluster

/// Errors that come from a cluster, as the program gets them.
@Suite struct RemoteErrorTests {
    /// Two operations, of which the program calls one by a name of its own.
    private var graph: OperationGraph {
        let named = Emit("a").timeout(.seconds(2)).queueTimeout(.seconds(3)).deadline(.seconds(4))
        named.name = "first"
        return GraphBuilder.graph(of: [named, Emit("b")])
    }

    private func failure(
        _ code: WireFailureCode, _ publisher: String, type: String = "", origin: String = "first", isCondition: Bool = false
    ) -> WireOperationFailure {
        .with {
            $0.code = code
            $0.publisher = publisher
            $0.typeName = type
            $0.message = "words"
            $0.origin = origin
            $0.state = isCondition ? .condition : .execution
        }
    }

    @Test func theLibrarysErrors_areThemselves_andNameTheOperationAsTheProgramDoes() {
        let graph = graph
        func error(_ code: WireFailureCode, type: String = "") -> any Error {
            graph.error(failure(code, "first", type: type), of: 1).publishedError
        }
        #expect(error(.cancelled) as? AOperationError.IsCancelled == .init(operation: "first"))
        #expect(error(.receivedValueIsNil) as? AOperationError.ReceivedValueIsNil == .init(operation: "first"))
        #expect(error(.timeout, type: "Timeout") as? TimeoutObserver.Error == .init(seconds: 2))
        #expect((error(.timeout, type: "AOperationError.QueueTimeout") as? AOperationError.QueueTimeout)?.limit == .seconds(3))
        #expect((error(.deadline) as? AOperationError.DeadlinePassed)?.limit == .seconds(4))
    }

    @Test func ignoredDuplicate_isTheLibrarysOwn_withTheIdAndTheFirst() {
        let graph = GraphBuilder.graph(of: [Only("id", "text")])
        var wire = failure(.duplicate, "Only", type: "AOperationError.IgnoredDuplicate", origin: "Only")
        wire.duplicateOf = "7fk2/a"
        let error = graph.error(wire, of: graph.members.count - 1)
        #expect(error.publishedError as? AOperationError.IgnoredDuplicate == .init(of: "id", operation: "Only", first: "7fk2/a"))
        #expect(error.localizedDescription.contains("7fk2/a"))
    }

    @Test func anyOtherError_isARemoteOne_withEverythingThatIsKnown() throws {
        var wire = failure(.exit, "Emit")
        wire.exitCode = 3
        wire.host = "h"
        let error = graph.error(wire, of: 1)
        let remote = try #require(error.publishedError as? RemoteError)
        #expect(remote.code == .exit && remote.exitCode == 3 && remote.signal == nil && remote.host == "h" && remote.origin == "first")
        #expect(error.localizedDescription == "words")
        #expect(error.publisher == "first")
    }

    @Test func registeredError_isItself_withPublisherAndStateOfItsBirth() {
        PortableErrors.register(TrialError.self)
        var wire = failure(.operation, "Emit", type: "TrialError")
        wire.error = Data(#"{"name":"TrialOperations.TrialError","error":{"text":"no"}}"#.utf8)
        let error = graph.error(wire, of: 1)
        #expect(error.publishedError as? TrialError == TrialError(text: "no"))
        #expect(error.publisher == "first" && error.localizedDescription == "trial: no")
        wire.error = Data("damaged".utf8)
        #expect(graph.error(wire, of: 1).publishedError is RemoteError)
    }

    @Test func publisherAndState_areThoseOfTheBirth() {
        let forwarded = graph.error(failure(.operation, "Emit", origin: "first"), of: 2)
        #expect(forwarded.publisher == "first")
        let condition = graph.error(failure(.condition, "DiskSpace", origin: "Emit", isCondition: true), of: 2)
        #expect(condition.publisher == "DiskSpace" && condition.state == .condition)
        let own = graph.error(failure(.operation, "", origin: ""), of: 2)
        #expect(own.publisher == "Emit")
    }

    @Test func admissionErrors_nameEachItsOperation() {
        let refused = ClusterError(
            .refused, "two errors",
            errors: [.init(node: 1, path: "first", message: "one"), .init(node: 2, path: "Emit", message: "two")])
        let errors = graph.errors(for: refused)
        #expect(errors.map(\.publisher) == ["first", "Emit"])
        #expect(errors.map(\.localizedDescription) == ["first: one", "Emit: two"])
        #expect(graph.errors(for: ClusterError(.busy, "later")).map(\.localizedDescription) == ["later"])
    }
}
