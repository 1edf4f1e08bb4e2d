import Foundation
import Testing

@testable import AOperation

/// How often each stress test is repeated, each time with another seed.
enum Stress {
    /// `AOP_STRESS_SEEDS`, 25 by default.
    static let seeds: ClosedRange<UInt64> = {
        let given = ProcessInfo.processInfo.environment["AOP_STRESS_SEEDS"].flatMap { UInt64($0) }
        return 1...max(1, given ?? 25)
    }()

    /// `AOP_STRESS_CHILDREN`, 30,000 by default: how many children the largest group has. `make stress` makes it a million.
    static let children: Int = {
        let given = ProcessInfo.processInfo.environment["AOP_STRESS_CHILDREN"].flatMap { Int($0) }
        return max(1, given ?? Load.count(30_000))
    }()
}

/// How many operations the tests of many operations have, and how often others are repeated.
enum Load {
    /// `AOP_TEST_LOAD`, 1 by default: below that, a share of what a test has otherwise; for machines, or sanitizers,
    /// that are slow.
    private static let share: Double = {
        let given = ProcessInfo.processInfo.environment["AOP_TEST_LOAD"].flatMap { Double($0) }
        return min(1, max(0, given ?? 1))
    }()

    /// How long a test may take before it counts as hung.
    static let patience: TimeLimitTrait.Duration = share < 1 ? .minutes(15) : .minutes(2)

    static func count(_ full: Int) -> Int { max(100, Int(Double(full) * share)) }

    /// How often a test tries the same again.
    static func rounds(_ full: Int) -> Int { max(10, Int(Double(full) * share)) }
}

/// Small, fast, and the same for the same seed (SplitMix64, by Steele, Lea and Flood, 2014).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Counts how often each listener of an operation was told of the end, and keeps what it was told last.
final class Ears: AOperationObserver, AOperationDelegate, @unchecked Sendable {
    private let state = Guarded(State())

    private struct State {
        var starts = 0
        var observerEnds = 0
        var delegateEnds = 0
        var completions = 0
    }

    /// Listens in every way there is.
    static func on<Output>(_ operation: ResultableOperation<Output>) -> Ears {
        let ears = Ears()
        operation.delegate = ears
        operation.addObserver(ears)
        operation.didFinish { _ in ears.state.withLock { $0.completions += 1 } }
        return ears
    }

    /// Every listener was told of the end once, and of a start at most once (observer and delegate share the method).
    var wereToldOnce: Bool {
        state.withLock { $0.starts <= 2 && $0.observerEnds == 1 && $0.delegateEnds == 1 && $0.completions == 1 }
    }

    var summary: String {
        state.withLock {
            "\($0.starts) starts, \($0.observerEnds) observer, \($0.delegateEnds) delegate, \($0.completions) didFinish"
        }
    }

    func operationDidStart(_ operation: AOperation) { state.withLock { $0.starts += 1 } }
    func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) {
        state.withLock { $0.observerEnds += 1 }
    }
    func operationDidFinish(_ operation: AOperation, with errors: [AOperationError]) {
        state.withLock { $0.delegateEnds += 1 }
    }
}

/// Waits a random moment in the way of the machine: from nothing to a hop to another thread, or several.
func jitter(_ hops: Int) async {
    for _ in 0..<hops { await Task.yield() }
}
