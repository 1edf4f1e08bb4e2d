import Foundation

@testable import AOperation

/// Gives the answer it is made with.
struct Answer: AOperationCondition, Sendable {
    let result: OperationConditionResult
    init(_ result: OperationConditionResult) { self.result = result }

    func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(result)
    }
}

extension Answer {
    static let holds = Answer(.success)
    static let ignored = Answer(.ignored)
    static func fails(_ text: String) -> Answer { Answer(.failure(AOperationError(Failed(text: text)))) }
    static func later(_ seconds: Int, _ reason: String = "busy") -> Answer {
        Answer(.retry(after: .seconds(seconds), because: reason))
    }
}

/// Leaves everything to its dependent operation.
struct Preparing: AOperationCondition, Sendable {
    let make: @Sendable () -> AOperation
    init(_ make: @escaping @Sendable () -> AOperation) { self.make = make }
    var dependentOperation: AOperation? { make() }
}

/// Excludes others of its type.
struct Alone: AOperationCondition, Sendable {
    static var isMutuallyExclusive: Bool { true }
}

/// Has a key of its own, and fails.
struct Keyed: AOperationCondition, Sendable {
    static var key: String { "my.key" }

    func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(.failure(AOperationError(Failed(text: "keyed"))))
    }
}

/// What `condition` comes to for `operation`; `dependencies` are its leaves' dependent operations, which have ended.
nonisolated(nonsending)
    func evaluate(
        _ condition: any AOperationCondition, for operation: AOperation = Step(), dependencies: [Int: AOperation] = [:]
    ) async -> OperationConditionResult
{
    await withCheckedContinuation { continuation in
        let failures = dependencies.compactMapValues(\.publishedErrors.first)
        ConditionEvaluation.evaluate(condition, for: operation, failures: failures) { result in
            continuation.resume(returning: result)
        }
    }
}

extension OperationConditionResult {
    /// The published error of a failure.
    var published: (any Error)? { error?.publishedError }
}

extension AOperationQueue {
    /// Runs `operation` to its end.
    func run(_ operation: AOperation) async {
        addOperation(operation)
        await operation.ended()
    }
}
