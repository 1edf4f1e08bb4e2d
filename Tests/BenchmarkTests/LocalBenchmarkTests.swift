import Testing

@testable import Benchmark

/// One at a time: measurements block their threads.
@Suite(.serialized) struct LocalBenchmarkTests {
    @Test(arguments: Workload.allCases, [1, 2, 50]) func everyWorkload_runsOnBothQueues_inAllItsVariants(
        _ workload: Workload, _ count: Int
    ) throws {
        let report = try LocalBenchmark(repeats: 1).run(workload, count: count)
        #expect(report.count == count)
        #expect(report.variants.map(\.variant) == workload.variants)
        #expect((report.teardown != nil) == (workload == .chain))
        for variant in report.variants {
            #expect(variant.ours.operations >= count)
            #expect(variant.ours.operations == variant.foundation.operations)
            #expect(variant.ours.operationsPerSecond > 0)
            #expect(variant.foundation.operationsPerSecond > 0)
            #expect(variant.ratio > 0)
        }
    }

    @Test func foundation_isGivenNoLongerChain_thanItsMaximum() throws {
        let report = try LocalBenchmark(repeats: 1).run(.chain, count: Workload.chain.foundationMaximum + 1)
        for variant in report.variants {
            #expect(variant.ours.operations == Workload.chain.foundationMaximum + 1)
            #expect(variant.foundation.operations == Workload.chain.foundationMaximum)
        }
    }

    @Test(arguments: [1, 2, 3, 10, 99, 10_000]) func groups_shareAllChildren_evenly(_ count: Int) {
        let sizes = NestedGroups.sizes(count)
        #expect(sizes.reduce(0, +) == count)
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
    }

    @Test(arguments: ["L1", "l1"]) func ids_areReadInEitherCase(_ id: String) {
        #expect(Workload(id: id) == .flood)
    }

    @Test(arguments: ["", "L5", "L", "W1"]) func unknownIds_areNoWorkload(_ id: String) {
        #expect(Workload(id: id) == nil)
    }

    @Test func median_isTheMiddleOne() {
        #expect([3.0, 1, 2].median == 2)
        #expect([1.0, 2].median == 2)
        #expect([Double]().median == nil)
    }

    @Test func theFloor_isMeasured() {
        #expect(DispatchFloor.microseconds(repeats: 1) > 0)
    }
}
