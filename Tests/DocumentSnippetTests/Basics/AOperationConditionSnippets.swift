// Basics, "AOperationCondition".

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum ManualDocument {
    struct UserAccessConditoin: AOperationCondition {

        static var isMutuallyExclusive: Bool = false

        let dependentOperation: AOperation? = nil
        let user = User.current  // +

        func evaluateForOperation(_ operation: AOperation, completion: @escaping (OperationConditionResult) -> Void) {
        // was: if User.current.hasAccess {
        // the test's user is told by task, and the condition is evaluated in none
        if user.hasAccess {
            completion(.success)
        }
        else {
        let error = AOperationError(AccessError.accessDenied)
        completion(.failure(error))
        }
        }
    }
}

// swift-format-ignore
private enum Document {
    struct UserAccessConditoin: AOperationCondition {
        static var isMutuallyExclusive: Bool = true

        // was: let dependentOperation: AOperation? = RequestUserAccessOperation()
        // only to hand the test's operation in; the line as it stands is in AsItStands
        let dependentOperation: AOperation?
    }

    enum AsItStands {  // +
        struct UserAccessConditoin: AOperationCondition {
            static var isMutuallyExclusive: Bool = true

            let dependentOperation: AOperation? = RequestUserAccessOperation()
        }
    }  // +

    static func like(_ comment: Comment, if condition: some AOperationCondition, _ heard: Heard) -> LikeCommentOperation {
        let operation = LikeCommentOperation(for: comment)
        // was: operation.conditions(UserAccessConditoin())
        // each of the document's conditions in turn
        operation.conditions(condition)
        operation.didFinish { result in

            switch result {
            case .success:
                //update UI
                heard("liked")  // +
            case .failure(let error):
                // You should handle received error
                //The failed error may be cause of UserAccessConditoin or LikeCommentOperation
                heard(error.localizedDescription)  // +
            }
        }
        return operation  // +
    }
}

private final class RequestUserAccessOperation: SampleOperation, @unchecked Sendable {
    /// How many are at work at once, and the most that ever were.
    final class Gauge: @unchecked Sendable {
        private let lock = NSLock()
        private var now = 0
        private(set) var most = 0

        func enter() {
            lock.withLock {
                now += 1
                most = max(most, now)
            }
        }

        func leave() { lock.withLock { now -= 1 } }
    }

    var isRefused = false
    var gauge: Gauge?

    override func execute() {
        gauge?.enter()
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.005) { [self] in
            gauge?.leave()
            heard?("requested")
            isRefused ? finish(with: AOperationError(AccessError.accessDenied)) : finish()
        }
    }
}

@Suite("Basics: AOperationCondition", .timeLimit(.minutes(1)))
struct AOperationConditionSnippets {
    let heard = Heard()
    let queue = AOperationQueue()

    @Test func userWithAccess_mayLike() async {
        let operation = Document.like(Comment(), if: ManualDocument.UserAccessConditoin(), heard)
        operation.add(to: queue)
        await heard.wait(for: "liked")
    }

    @Test func userWithoutAccess_mayNot() async throws {
        let operation = User.$current.withValue(User(name: "stranger", hasAccess: false)) {
            Document.like(Comment(), if: ManualDocument.UserAccessConditoin(), heard)
        }
        operation.didStart { heard("started") }.add(to: queue)
        await heard.wait(for: "access denied")
        #expect(heard.words == ["access denied"])
        let error = try #require(operation.publishedErrors.first)
        #expect(error.state == .condition)
        #expect(error.publisher == "UserAccessConditoin")
        #expect(!operation.isCancelled)
    }

    @Test func dependentOperation_runsFirst() async {
        let request = RequestUserAccessOperation()
        request.heard = heard
        let operation = Document.like(Comment(), if: Document.UserAccessConditoin(dependentOperation: request), heard)
        operation.add(to: queue)
        await heard.wait(for: "liked")
        #expect(heard.words == ["requested", "liked"])
    }

    @Test func dependentOperationThatFails_failsTheCondition() async throws {
        let request = RequestUserAccessOperation()
        request.isRefused = true
        request.heard = heard
        let operation = Document.like(Comment(), if: Document.UserAccessConditoin(dependentOperation: request), heard)
        operation.didStart { heard("started") }.add(to: queue)
        await heard.wait(for: "access denied")
        #expect(heard.words == ["requested", "access denied"])
        #expect(operation.publishedErrors.first?.state == .condition)
    }

    @Test func conditionAsItStands_holds() async {
        Document.like(Comment(), if: Document.AsItStands.UserAccessConditoin(), heard).add(to: queue)
        await heard.wait(for: "liked")
    }

    /// "By setting `isMutuallyExclusive` true, we make sure never two `RequestUserAccessOperation` executed concurrently."
    @Test func exclusiveConditions_neverRequestTwiceAtOnce() async {
        let gauge = RequestUserAccessOperation.Gauge()
        let operations = (1...20).map { _ in
            let request = RequestUserAccessOperation()
            request.gauge = gauge
            return Document.like(Comment(), if: Document.UserAccessConditoin(dependentOperation: request), heard)
        }
        for operation in operations { operation.add(to: queue) }
        for operation in operations { #expect(await operation.result(on: queue).error == nil) }
        #expect(gauge.most == 1)
    }
}
