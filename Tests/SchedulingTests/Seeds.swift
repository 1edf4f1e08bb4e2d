import Foundation

/// The seeds of tests that try the same with one random graph after another.
enum Seeds {
    /// `AOP_TEST_LOAD`, 1 by default: below that, a share of the seeds; for builds, or machines, that are slow.
    private static let share: Double = {
        let given = ProcessInfo.processInfo.environment["AOP_TEST_LOAD"].flatMap { Double($0) }
        return min(1, max(0, given ?? 1))
    }()

    /// The first of them, at least ten.
    static func first(_ full: Int) -> Range<Int> { 0..<min(full, max(10, Int(Double(full) * share))) }
}
