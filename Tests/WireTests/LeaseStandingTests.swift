import Testing

@testable import Wire

@Suite struct LeaseStandingTests {
    private var timing: SessionTiming {
        SessionTiming(
            .with {
                $0.leaseMilliseconds = 3_000
                $0.lockLeaseMilliseconds = 20_000
                $0.orphanLimitMilliseconds = 600_000
            })
    }

    @Test func limits_areToldInTheirOrder_eachOnce() {
        var standing = LeaseStanding.held(answeredAt: 100, lastSentAt: 100)
        #expect(standing.deadline(timing) == 3_100)
        #expect(standing.expire(at: 3_100, timing) == [.leaseOver])
        #expect(standing.deadline(timing) == 13_100)
        #expect(standing.expire(at: 13_099, timing) == [])
        #expect(standing.expire(at: 13_100, timing) == [.lockLeaseEnding(graceMilliseconds: 5_000)])
        #expect(standing.deadline(timing) == 600_100)
        #expect(standing.expire(at: 600_100, timing) == [.orphanLimitOver])
        #expect(standing.deadline(timing) == nil)
    }

    @Test func afterALongSleep_allAreToldAtOnce() {
        var standing = LeaseStanding.held(answeredAt: 0, lastSentAt: 0)
        #expect(
            standing.expire(at: 1_000_000, timing) == [.leaseOver, .lockLeaseEnding(graceMilliseconds: 5_000), .orphanLimitOver])
    }

    @Test func coordinatorWithoutALockLease_hasNoneToEnd() {
        var standing = LeaseStanding.held(answeredAt: 0, lastSentAt: 0)
        let timing = SessionTiming(.with { $0.leaseMilliseconds = 3_000 })
        #expect(standing.expire(at: 20_000, timing) == [.leaseOver])
    }
}
