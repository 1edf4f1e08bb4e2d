import Foundation

/// How much a test of failures does: a little of everything, or, with `AOP_CHAOS=long`, as much as the promises say.
struct ChaosScale {
    /// Kills of the coordinator, and the operations during which they come.
    let coordinatorKills: Int
    let operations: Int
    let workerKills: Int
    /// Processes that are frozen, one after the other.
    let freezes: Int
    /// Operations of which readers hear who do not read.
    let readOperations: Int
    /// So much later than it is meant to be may be what is given out anew; a short run has the machine to share with other tests.
    let slackMilliseconds: Double
    let seed: UInt64
    /// What takes longer hangs.
    let patience: Duration

    private static let environment = ProcessInfo.processInfo.environment
    private static func number(_ name: String) -> Int? { environment["AOP_CHAOS_\(name)"].flatMap { Int($0) } }

    static let isLong = environment["AOP_CHAOS"] == "long"

    static let current = ChaosScale(
        coordinatorKills: number("COORDINATOR_KILLS") ?? (isLong ? 200 : 6),
        operations: number("OPERATIONS") ?? (isLong ? 20_000 : 600),
        workerKills: number("WORKER_KILLS") ?? (isLong ? 500 : 10),
        freezes: number("FREEZES") ?? (isLong ? 12 : 2),
        readOperations: number("READ_OPERATIONS") ?? (isLong ? 100_000 : 2_000),
        slackMilliseconds: isLong ? 2_000 : 5_000,
        seed: UInt64(number("SEED") ?? 1),
        patience: isLong ? .seconds(3600) : .seconds(240))
}

/// Draws the same for the same seed.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        // https://prng.di.unimi.it/splitmix64.c
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

/// Nanoseconds of the clock that lines of bodies have.
func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
