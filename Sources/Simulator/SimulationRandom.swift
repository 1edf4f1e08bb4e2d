/// A seeded source of random numbers (xorshift64*): the same in every process and on every machine.
///
/// Vigna, *An experimental exploration of Marsaglia's xorshift generators, scrambled* (2016).
struct SimulationRandom {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 ^ 0xD1B5_4A32_D192_ED03
        if state == 0 { state = 1 }
        for _ in 0..<4 { _ = next() }
    }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    /// From 0 up to, and without, `bound`.
    mutating func below(_ bound: Int) -> Int { Int((next() >> 11) % UInt64(bound)) }

    mutating func below(_ bound: Int64) -> Int64 { Int64(below(Int(bound))) }

    /// True once in so many times.
    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    mutating func pick<Element>(_ list: [Element]) -> Element? { list.isEmpty ? nil : list[below(list.count)] }
}
