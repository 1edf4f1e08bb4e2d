import Testing

@testable import Coordinator

struct FreedMemoryTests {
    private let growth = CoordinatorLimits.residentGrowthBytes

    @Test func isGivenBack_onceForSoMuchMore() {
        // What is left after that is in use: it counts from there.
        let residents = [1_000, 1_000 + growth - 1, 1_000 + growth, 900 + growth, 900 + 2 * growth - 1, 900 + 2 * growth]
        #expect(due(residents) == [false, false, true, false, false, true])
    }

    @Test func whileItGrows_itIsInUse() {
        #expect(due([0, growth, 2 * growth, 5 * growth, 5 * growth, 5 * growth]) == [false, false, false, false, true, false])
        #expect(due([0, 3 * growth, growth / 2, growth / 2, growth]) == [false, false, true, false, false])
    }

    @Test func whatIsNeededNoMore_countsFromThere() {
        #expect(due([10 * growth, growth, growth / 2, 2 * growth, 2 * growth]) == [false, false, false, false, true])
    }

    private func due(_ residents: [Int]) -> [Bool] {
        var memory = FreedMemory()
        return residents.map { memory.isDue(resident: $0) }
    }

    @Test func theKernelSaysHowMuchThereIs() throws {
        #expect(try #require(ResidentMemory.bytes) > 1 << 20)
    }
}
