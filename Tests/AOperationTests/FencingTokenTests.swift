import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct FencingTokenTests {
    let queue = AOperationQueue()

    @Test func tokens_riseWithEveryAttemptUnderTheLock() async {
        let tokens = Log<UInt64?>()
        let key = "FencingTokenTests"
        for _ in 0..<50 {
            queue.addOperation(Reading(key) { tokens.append($0) }.exclusive(key))
        }
        await queue.idle()
        let numbers = tokens.entries.compactMap(\.self)
        #expect(numbers.count == 50)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
        #expect(numbers.allSatisfy { $0 >> 32 > 0 })
    }

    @Test func eachAttemptUnderTheLock_hasATokenOfItsOwn_thatRises() async {
        let tokens = Log<UInt64?>()
        let key = "FencingTokenTests.retried"
        let operation = Reading(key, failsWhile: { tokens.entries.count < 5 }) { tokens.append($0) }
            .exclusive(key).retry(RetryPolicy(attempts: 5, backoff: .constant(.zero)))
        await operation.add(to: queue).ended()
        let numbers = tokens.entries.compactMap(\.self)
        #expect(numbers.count == 5 && operation.publishedErrors.isEmpty)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(numbers)")
    }

    @Test func childOfAGroupThatHoldsTheLock_hasTheGroupsToken_andOthersHaveNone() async {
        let tokens = Log<UInt64?>()
        let child = Reading("FencingTokenTests.group") { tokens.append($0) }
        GroupOperation(child).exclusive("FencingTokenTests.group").add(to: queue)
        await queue.idle()
        #expect(tokens.entries.first != .some(nil))
        queue.addOperation(Reading("FencingTokenTests.group") { tokens.append($0) })
        await queue.idle()
        #expect(tokens.entries.last == .some(nil))
    }

    @Test func adoptedTokens_areGivenByKey() async {
        let tokens = Log<UInt64?>()
        for key in ["FencingTokenTests.adopted", "FencingTokenTests.other"] {
            let operation = Reading(key) { tokens.append($0) }
            operation.adoptFencingTokens(["FencingTokenTests.adopted": 42])
            queue.addOperation(operation)
            await queue.idle()
        }
        #expect(tokens.entries == [42, nil])
    }

    private final class Reading: VoidOperation, RetryableOperation, @unchecked Sendable {
        private let key: String
        /// Asked at the end of each attempt.
        private let fails: @Sendable () -> Bool
        private let tell: @Sendable (UInt64?) -> Void

        init(_ key: String, failsWhile fails: @escaping @Sendable () -> Bool = { false }, _ tell: @escaping @Sendable (UInt64?) -> Void) {
            self.key = key
            self.fails = fails
            self.tell = tell
            super.init()
        }

        func new() -> Reading { Reading(key, failsWhile: fails, tell) }

        override func execute() {
            tell(fencingToken(for: key))
            if fails() { finish(with: .failure(AOperationError(CocoaError(.fileNoSuchFile)))) } else { finish() }
        }
    }
}
