import Scheduling
import Testing
import Wire

@testable import Coordinator

@Suite struct ConditionTranslationTests {
    private func options(_ conditions: [WireCondition]) throws -> NodeOptions {
        try NodeOptions(wire: .with { $0.conditions = conditions }, index: 3)
    }

    @Test func conditions_areRead() throws {
        let wire: [WireCondition] = [
            .with { $0.noFailedDependencies = WireNoFailedDependencies() },
            .with {
                $0.noCancelledDependencies = WireNoCancelledDependencies()
                $0.negated = true
            },
            .with {
                $0.timeWindow = .with {
                    $0.startMinute = 5
                    $0.endMinute = 60
                    $0.zone = "Europe/Berlin"
                }
            },
            .with {
                $0.rateLimit = .with {
                    $0.key = "k"
                    $0.count = 2
                    $0.perMilliseconds = 7
                }
            },
        ]
        #expect(
            try options(wire).conditions == [
                Condition(.noFailedDependencies), Condition(.noCancelledDependencies, isNegated: true),
                Condition(.timeWindow(TimeWindow(startMinute: 5, endMinute: 60, zone: "Europe/Berlin"))),
                Condition(.rateLimit(Scheduling.RateLimit(key: "k", count: 2, perMilliseconds: 7))),
            ])
    }

    @Test func dependentOperationsOfParts_areRead_andTheirFailuresAreSaid() throws {
        let options = try NodeOptions(
            wire: .with {
                $0.prepares = 2
                $0.preparesPart = 0
            }, index: 3)
        #expect(options.prepares == 2 && options.preparesPart == 0)
        #expect(try NodeOptions(wire: .with { $0.prepares = 2 }, index: 3).preparesPart == nil)
        var question = ConditionQuestion(condition: 1, type: "OrCondition", parameters: [])
        let before = question.wireBytes
        question.failedParts = [FailedPart(part: 4, failure: Failure(code: .operation, message: "no disk"))]
        #expect(question.wire.failedParts.map(\.part) == [4])
        #expect(question.wire.failedParts.map(\.failure.message) == ["no disk"])
        #expect(question.wireBytes > before)
    }

    @Test func malformedConditions_areRefused() {
        #expect(throws: TranslationError.self) { try options([WireCondition()]) }
        let error = #expect(throws: TranslationError.self) { try options([.with { $0.rateLimit.perMilliseconds = .max }]) }
        #expect(error?.description.contains("node 3 of the graph has a rate limit per 18446744073709551615 ms") == true)
    }

    @Test func zones_haveTheirTransitions_exactly_andUnknownOnesAreLeftOut() throws {
        var zones = ZoneTables()
        // 2026-11-21T00:00:00Z
        let now: Int64 = 1_795_219_200_000
        let tables = zones.tables(for: ["Europe/Berlin", "Asia/Kolkata", "Nowhere/Else"], at: now)
        #expect(tables.map(\.name) == ["Europe/Berlin", "Asia/Kolkata"])
        let berlin = try #require(tables.first)
        // The last Sundays of March and October 2027, 01:00 UTC.
        #expect(berlin.transitions.contains(.init(at: 1_806_195_600_000, offsetSeconds: 7_200)))
        #expect(berlin.transitions.contains(.init(at: 1_824_944_400_000, offsetSeconds: 3_600)))
        #expect(berlin.transitions.count >= 20)
        #expect(tables.last?.transitions == [])
        #expect(tables.last?.offsetSeconds == 19_800)
        #expect(zones.tables(for: ["Europe/Berlin"], at: now + 1) == [berlin])
    }
}
