// The examples of Conditions.md.

import AOperation
import Foundation
import Testing

@Suite("Conditions", .timeLimit(.minutes(1)))
struct ConditionsExamples {
    struct User {
        var hasAccess: Bool
    }

    enum AccessError: Error {
        case denied
    }

    struct Comment {}

    final class Like: Job, @unchecked Sendable {
        init(_ comment: Comment) { super.init() }
    }

    final class LogIn: GaugedJob, @unchecked Sendable {
        override init() {
            super.init()
            gauge = ConditionsExamples.gauge
        }
    }

    struct IsBlocked: AOperationCondition {
        func evaluateForOperation(
            _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
        ) {
            completion(.failure(AOperationError(AccessError.denied)))
        }
    }

    struct HasAccess: AOperationCondition {
        let user: User

        func evaluateForOperation(
            _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
        ) {
            completion(user.hasAccess ? .success : .failure(AOperationError(AccessError.denied)))
        }
    }

    struct LoggedIn: AOperationCondition {
        static let isMutuallyExclusive = true

        var dependentOperation: AOperation? { LogIn() }
    }

    static let gauge = Gauge()
    let queue = AOperationQueue()
    let comment = Comment()

    @Test(arguments: [true, false]) func condition_decides(hasAccess: Bool) async {
        let user = User(hasAccess: hasAccess)
        let like = Like(comment)
        like.conditions(HasAccess(user: user)).didFinish { result in print(result) }.add(to: queue)
        let error = await like.result(on: queue).error
        #expect((error == nil) == hasAccess)
        #expect(hasAccess || error?.state == .condition)
        #expect(hasAccess || error?.publisher == "HasAccess")
        #expect(!like.isCancelled)
    }

    @Test func closure_mayAnswerLater() async {
        let like = Like(comment)
        like.condition { completion in
            DispatchQueue.global().async { completion(.success) }
        }
        #expect(await like.result(on: queue).error == nil)
    }

    @Test func ignoredCondition_cancels() async {
        let like = Like(comment).condition { completion in completion(.ignored) }
        _ = await like.result(on: queue)
        #expect(like.outcome?.isCancelled == true)
    }

    @Test func combinedConditions_hold() async {
        let user = User(hasAccess: false)
        let likes = (1...10).map { _ in Like(comment) }
        for like in likes {
            like.conditions(
                NoFailedDependencies(),
                OrCondition(HasAccess(user: user), LoggedIn()),
                NegatedCondition(IsBlocked()))
            like.add(to: queue)
        }
        for like in likes { #expect(await like.result(on: queue).error == nil) }
        #expect(Self.gauge.most == 1)
    }
}
