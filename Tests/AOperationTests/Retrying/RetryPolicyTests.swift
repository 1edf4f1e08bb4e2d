import Foundation
import Testing

@testable import AOperation

struct RetryPolicyTests {
    private let error = AOperationError(Failed(text: "no"))

    private func waits(_ backoff: RetryPolicy.Backoff, cap: Duration? = nil, count: Int = 5) -> [Duration?] {
        let policy = RetryPolicy(attempts: .max, backoff: backoff, cap: cap)
        return (1...count).map { policy.wait(after: $0, error: error, random: 0.5) }
    }

    private func seconds(_ values: Double...) -> [Duration?] { values.map { .seconds($0) } }

    @Test func attempts_includeTheFirst() {
        let policy = RetryPolicy(attempts: 3)
        #expect(policy.wait(after: 1, error: error, random: 0) == .zero)
        #expect(policy.wait(after: 2, error: error, random: 0) == .zero)
        #expect(policy.wait(after: 3, error: error, random: 0) == nil)
        #expect(policy.wait(after: .max, error: error, random: 0) == nil)
    }

    @Test(arguments: [1, 0, -1, Int.min])
    func oneAttemptOrLess_isNoRetry(attempts: Int) {
        var policy = RetryPolicy(attempts: attempts)
        #expect(policy.attempts == 1)
        #expect(policy.wait(after: 1, error: error, random: 0) == nil)
        policy.attempts = attempts
        #expect(policy.wait(after: 1, error: error, random: 0) == nil)
    }

    @Test func backoff_growsAsItsNameSays() {
        #expect(waits(.none) == seconds(0, 0, 0, 0, 0))
        #expect(waits(.constant(.seconds(2))) == seconds(2, 2, 2, 2, 2))
        #expect(waits(.linear(.seconds(2))) == seconds(2, 4, 6, 8, 10))
        #expect(waits(.exponential(.seconds(1))) == seconds(1, 2, 4, 8, 16))
        #expect(waits(.exponential(.seconds(1), factor: 3)) == seconds(1, 3, 9, 27, 81))
        #expect(waits(.fibonacci(.seconds(1)), count: 7) == seconds(1, 1, 2, 3, 5, 8, 13))
    }

    @Test func cap_limitsEveryWait() {
        #expect(waits(.exponential(.seconds(1)), cap: .seconds(5)) == seconds(1, 2, 4, 5, 5))
        #expect(waits(.constant(.seconds(9)), cap: .seconds(5), count: 1) == seconds(5))
        #expect(waits(.constant(.seconds(9)), cap: .zero, count: 1) == seconds(0))
        #expect(waits(.constant(.seconds(9)), cap: .seconds(-3), count: 1) == seconds(0))
    }

    @Test func jitter_shortensByAtMostItsFraction() {
        let policy = RetryPolicy(attempts: 9, backoff: .constant(.seconds(10)), jitter: 0.2)
        #expect(policy.wait(after: 1, error: error, random: 0) == .seconds(10))
        #expect(policy.wait(after: 1, error: error, random: 0.5) == .seconds(9))
        #expect(policy.wait(after: 1, error: error, random: 1) == .seconds(8))
        let full = RetryPolicy(attempts: 9, backoff: .constant(.seconds(10)), jitter: 1)
        #expect(full.wait(after: 1, error: error, random: 1) == .zero)
    }

    @Test func errorFilter_saysWhatIsWorthARetry() {
        let policy = RetryPolicy(attempts: 5) { $0.publishedError as? Failed == Failed(text: "again") }
        #expect(policy.wait(after: 1, error: error, random: 0) == nil)
        #expect(policy.wait(after: 1, error: AOperationError(Failed(text: "again")), random: 0) == .zero)
    }

    /// The longest wait is a year; none is negative or no number.
    @Test(arguments: [
        RetryPolicy.Backoff.none, .constant(.zero), .constant(.seconds(-5)), .constant(.seconds(Int64.max)),
        .constant(.seconds(Int64.max) * 10), .constant(.seconds(Int64.min) * 10), .linear(.seconds(Int64.max)),
        .linear(.zero), .linear(.seconds(-1)), .exponential(.zero), .exponential(.zero, factor: .infinity),
        .exponential(.seconds(1), factor: .infinity), .exponential(.seconds(1), factor: .nan),
        .exponential(.seconds(1), factor: 0), .exponential(.seconds(1), factor: -2),
        .exponential(.seconds(-1), factor: .infinity), .exponential(.seconds(1), factor: 1e300), .fibonacci(.zero),
        .fibonacci(.seconds(1)), .fibonacci(.seconds(-1)), .fibonacci(.seconds(Int64.max)),
    ])
    func extremeValues_leadToAWaitBetweenNoneAndAYear(backoff: RetryPolicy.Backoff) throws {
        for failed in [1, 2, 3, 100, 1_500, 1_000_000, Int.max - 1] {
            for jitter in [0, 1, -1, 2, .nan, .infinity] {
                for random in [0, 0.5, 1] {
                    for cap in [nil, Duration.zero, .seconds(Int64.max) * 10, .seconds(-1)] {
                        var policy = RetryPolicy(attempts: .max, backoff: backoff, cap: cap, jitter: jitter)
                        policy.jitter = jitter
                        let wait = try #require(policy.wait(after: failed, error: error, random: random))
                        #expect(wait >= .zero && wait <= .seconds(31_536_000), "\(backoff) \(failed) \(jitter) \(random)")
                    }
                }
            }
        }
    }

    @Test func factorBelowOne_doesNotShrinkTheWait() {
        #expect(waits(.exponential(.seconds(1), factor: 0.5)) == seconds(1, 1, 1, 1, 1))
    }
}

@Suite(.timeLimit(Load.patience))
struct RetryPolicyRunTests {
    let queue = AOperationQueue()

    @Test func operationThatSucceedsInTime_succeeds() async throws {
        let script = Script.failing("a", 2)
        let operation = Attempted(script).retry(.times(3))
        let result = await operation.result(on: queue)
        #expect(try result.get() == "a")
        #expect(script.runs == 3)
        #expect(script.made == 2)
    }

    @Test func attemptsUsedUp_theLastErrorIsTheOutcome() async {
        let script = Script.failing("a", .max)
        let operation = Attempted(script).retry(RetryPolicy(attempts: 4, backoff: .exponential(.milliseconds(1)), jitter: 0.5))
        await operation.add(to: queue).ended()
        #expect(operation.outcome?.errors.map(\.localizedDescription) == ["a 4"])
        #expect(operation.publishedErrors.first?.publisher == "a")
        #expect(script.runs == 4)
    }

    @Test func errorThatIsNotWorthIt_isTheOutcomeAtOnce() async {
        let script = Script.failing("a", .max)
        let operation = Attempted(script).retry(RetryPolicy(attempts: 4) { _ in false })
        await operation.add(to: queue).ended()
        #expect(operation.firstFailure == "a 1")
        #expect(script.runs == 1)
    }

    @Test func manyQuickAttempts_needNoStack() async {
        let script = Script.failing("a", 4_000)
        let operation = Attempted(script).retry(.times(.max))
        await operation.add(to: queue).ended()
        #expect(script.runs == 4_001)
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func policyThatTheInitializerSets_isNotAppliedToEachAttemptAgain() async {
        final class Stubborn: VoidOperation, RetryableOperation, @unchecked Sendable {
            let runs: Log<Int>
            init(_ runs: Log<Int>) {
                self.runs = runs
                super.init()
                retry(.times(3))
            }
            override func execute() {
                runs.append(1)
                finish(with: AOperationError(Failed(text: "no")))
            }
            func new() -> Stubborn { Stubborn(runs) }
        }
        let runs = Log<Int>()
        await Stubborn(runs).add(to: queue).ended()
        #expect(runs.count == 3)
    }
}
