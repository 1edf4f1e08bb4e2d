import Foundation
import Testing

@testable import AOperation

struct WaitStrategyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let strategy: WaitStrategy
        let seconds: [Double]
        var testDescription: String { "\(strategy)" }
    }

    @Test(arguments: [
        Case(strategy: .immediate, seconds: [0, 0, 0]),
        Case(strategy: .constant(2), seconds: [2, 2, 2]),
        Case(strategy: .incrementing(initial: 1, increment: 2), seconds: [1, 3, 5, 7]),
        Case(strategy: .incrementing(initial: 2, increment: -1), seconds: [2, 1, 0, 0, 0]),
        Case(strategy: .fibonacci(period: 2, maximum: 12), seconds: [2, 2, 4, 6, 10, 12, 12]),
        Case(strategy: .exponential(power: 3, period: 1, maximum: 20), seconds: [1, 3, 9, 20, 20]),
        Case(strategy: .random(minimum: 4, maximum: 4), seconds: [4, 4]),
        Case(strategy: .random(minimum: 4, maximum: 1), seconds: [4]),
        Case(strategy: .constant(-1), seconds: [0]),
        Case(strategy: .constant(.nan), seconds: [0]),
        Case(strategy: .constant(.infinity), seconds: [31_536_000]),
        Case(strategy: .random(minimum: 0, maximum: .infinity), seconds: [0]),
    ])
    func waits(_ expected: Case) {
        #expect(Array(expected.strategy.prefix(expected.seconds.count)) == expected.seconds.map { .seconds($0) })
    }

    @Test(arguments: [
        WaitStrategy.fibonacci(period: 1, maximum: .infinity), .exponential(power: 2, period: 1, maximum: .infinity),
        .incrementing(initial: 0, increment: .greatestFiniteMagnitude),
    ])
    func unlimitedGrowth_endsAtTheLongestWait(strategy: WaitStrategy) {
        let waits = Array(strategy.prefix(3_000))
        #expect(waits.last == WaitStrategy.longest)
        #expect(waits.allSatisfy { $0 <= WaitStrategy.longest })
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func chance_comesFromTheGenerator() {
        let strategy = WaitStrategy.random(minimum: 1, maximum: 2)
        let waits = Array(strategy.delays(using: Dice(state: 7)).prefix(100))
        #expect(waits == Array(strategy.delays(using: Dice(state: 7)).prefix(100)))
        #expect(waits != Array(strategy.delays(using: Dice(state: 8)).prefix(100)))
        #expect(waits.allSatisfy { $0 >= .seconds(1) && $0 <= .seconds(2) })
    }
}

/// SplitMix64: chance that can be repeated.
struct Dice: RandomNumberGenerator, Sendable {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
