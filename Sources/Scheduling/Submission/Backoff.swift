/// The default back-off: exponential from one second, capped at 60, with full jitter ("Exponential Backoff And Jitter",
/// AWS Architecture Blog, 2015). The jitter is drawn from the unit's identity, so that a journal folded again gives the
/// same times.
enum Backoff {
    static let initialMilliseconds: Int64 = 1_000
    static let maxMilliseconds: Int64 = 60_000

    /// - Parameter failedAttempts: from 1.
    static func delayMilliseconds(of unit: UnitID, failedAttempts: Int) -> Int64 {
        let doublings = min(failedAttempts - 1, 10)
        let ceiling = min(initialMilliseconds << Int64(doublings), maxMilliseconds)
        var generator = SplitMix64(seed: unit.rawValue &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(failedAttempts))
        return Int64(generator.next() % UInt64(ceiling + 1))
    }
}

/// The SplitMix64 generator (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
struct SplitMix64 {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
