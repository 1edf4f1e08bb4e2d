import AOperation
import Executing
import Foundation
import Scheduling
import Testing

@testable import Coordinator

/// Errors of the scheduler's own, as programs get them: of the types that a local queue would have published.
@Suite struct LibraryErrorTests {
    /// What is read of a failure where it arrives.
    private func arrived(
        _ code: FailureCode, _ typeName: String, _ detail: FailureDetail?, duplicateOf: String = ""
    ) -> any Error {
        let failure = Failure(
            code: code, publisher: "g/a", message: "words", typeName: typeName, origin: "g/a", duplicateOf: duplicateOf, detail: detail)
        return AOperationError(failure.wire).publishedError
    }

    @Test func timeLimits_areThemselves() {
        let timeout = arrived(.timeout, "TimeoutObserver.Error", .limit(milliseconds: 1_500))
        #expect(timeout as? TimeoutObserver.Error == .init(seconds: 1.5))
        let queue = arrived(.timeout, "AOperationError.QueueTimeout", .limit(milliseconds: 250))
        #expect(queue as? AOperationError.QueueTimeout == .init(operation: "g/a", limit: .milliseconds(250)))
        let deadline = arrived(.deadline, "AOperationError.DeadlinePassed", .limit(milliseconds: 90_000))
        #expect(deadline as? AOperationError.DeadlinePassed == .init(operation: "g/a", limit: .seconds(90)))
    }

    @Test func duplicatesAndCircles_areThemselves() throws {
        let duplicate = arrived(.duplicate, "AOperationError.IgnoredDuplicate", .uniqueID("id"), duplicateOf: "7fk2/a")
        #expect(duplicate as? AOperationError.IgnoredDuplicate == .init(of: "id", operation: "g/a", first: "7fk2/a"))
        let circle = try #require(
            arrived(.lockCycle, "AOperationError.LockCycle", .circle(keys: ["k"], holders: ["g"])) as? AOperationError.LockCycle)
        #expect(circle.operation == "g/a" && circle.keys == ["k"] && circle.holders == ["g"])
    }

    @Test func conditions_areThemselves() {
        let failed = arrived(.condition, "NoFailedDependencies.Error", .dependencies(failed: ["a"], cancelled: ["b"]))
        #expect(failed as? NoFailedDependencies.Error == .init(failedDependencies: ["a"], canceledDependencies: ["b"]))
        let cancelled = arrived(.condition, "NoCancelledDependencies.Error", .dependencies(failed: [], cancelled: ["b"]))
        #expect(cancelled as? NoCancelledDependencies.Error == .init(canceledDependencies: ["b"]))
        let negated = arrived(.condition, "Not<DiskSpace>.Error", .negated("DiskSpace"))
        #expect(negated as? NegatedConditionError == .init(negatedConditionKey: "DiskSpace"))
    }

    /// What is too long to be sent with all that it consists of still says what it is.
    @Test func thousandsOfDependencies_areTheirText() throws {
        let names = (0..<5_000).map { "dependency-\($0)" }
        let error = arrived(.condition, "NoFailedDependencies.Error", .dependencies(failed: names, cancelled: []))
        let remote = try #require(error as? RemoteError)
        #expect(remote.code == .condition && remote.message == "words" && remote.typeName == "NoFailedDependencies.Error")
    }

    /// What a worker passes on comes back as it was, and nobody else says what only the scheduler may.
    @Test func passedOn_itStaysItself() throws {
        let failure = Failure(
            code: .timeout, publisher: "a", message: "words", typeName: "TimeoutObserver.Error", origin: "a",
            detail: .limit(milliseconds: 1_000))
        let back = try Failure(wire: failure.wire)
        #expect(back.detail == nil && !back.image.isEmpty)
        #expect(AOperationError(back.wire).publishedError as? TimeoutObserver.Error == .init(seconds: 1))
        let forged = try Failure(wire: .with { $0.error = Data([1, 0, 2]) })
        #expect(forged.image.isEmpty)
    }
}
