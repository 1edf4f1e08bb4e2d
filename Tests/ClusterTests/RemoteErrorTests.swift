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

    /// One of the library's, as it comes from a coordinator, which calls the operation by its path.
    private func error(_ code: WireFailureCode, _ error: some PortableError) -> any Error {
        var wire = failure(code, "first")
        wire.error = PortableErrors.image(of: error) ?? Data()
        return graph.error(wire, of: 1).publishedError
    }

    @Test func theLibrarysErrors_areThemselves_andNameTheOperationAsTheProgramDoes() {
        let graph = graph
        #expect(
            graph.error(failure(.cancelled, "first"), of: 1).publishedError as? AOperationError.IsCancelled == .init(operation: "first"))
        #expect(
            graph.error(failure(.receivedValueIsNil, "first"), of: 1).publishedError as? AOperationError.ReceivedValueIsNil
                == .init(operation: "first"))
        let gone = graph.error(failure(.submitterGone, "first"), of: 1).publishedError
        #expect(gone as? SubmitterGone == .init(operation: "first", reason: "words"))
        #expect(error(.timeout, TimeoutObserver.Error(seconds: 2)) as? TimeoutObserver.Error == .init(seconds: 2))
        let queued = AOperationError.QueueTimeout(operation: "Emit", limit: .seconds(3))
        #expect(error(.timeout, queued) as? AOperationError.QueueTimeout == .init(operation: "first", limit: .seconds(3)))
        let passed = AOperationError.DeadlinePassed(operation: "first", limit: .seconds(4))
        #expect(error(.deadline, passed) as? AOperationError.DeadlinePassed == passed)
    }

    @Test func errorsOfConditions_nameDependenciesAsTheProgramDoes() {
        let producer = Emit("a")
        producer.name = "source"
        let receiver = Emit("b")
        receiver.name = "target"
        let graph = GraphBuilder.graph(of: [producer, receiver])
        var wire = failure(.condition, "NoFailedDependencies", origin: graph.members[2].path, isCondition: true)
        let told = NoFailedDependencies.Error(failedDependencies: [graph.members[1].path, "7fk2/other"], canceledDependencies: [])
        wire.error = PortableErrors.image(of: told) ?? Data()
        let error = graph.error(wire, of: 2)
        #expect(
            error.publishedError as? NoFailedDependencies.Error
                == .init(failedDependencies: ["source", "7fk2/other"], canceledDependencies: []))
        #expect(error.publisher == "NoFailedDependencies" && error.state == .condition)
    }

    @Test func ignoredDuplicate_isTheLibrarysOwn_withTheIdAndTheFirst() {
        let graph = GraphBuilder.graph(of: [Only("id", "text")])
        var wire = failure(.duplicate, "Only", type: "AOperationError.IgnoredDuplicate", origin: "Only")
        wire.error = PortableErrors.image(of: AOperationError.IgnoredDuplicate(of: "id", operation: "Only", first: "7fk2/a")) ?? Data()
        let error = graph.error(wire, of: graph.members.count - 1)
        #expect(error.publishedError as? AOperationError.IgnoredDuplicate == .init(of: "id", operation: "Only", first: "7fk2/a"))
        #expect(error.localizedDescription.contains("7fk2/a"))
    }

    @Test func remoteError_thatAnOperationFailsWith_keepsWhatItIs() throws {
        var wire = failure(.exit, "Emit")
        wire.exitCode = 3
        wire.stderr = "no"
        let remote = try #require(graph.error(wire, of: 1).publishedError as? RemoteError)
        let again = WireOperationFailure(AOperationError(remote), host: "here")
        #expect(again.code == .exit && again.exitCode == 3 && again.stderr == "no" && again.message == "words" && again.host == "here")
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
