import Testing

@testable import Scheduling

@Suite struct TimeWindowTests {
    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 24 * hour
    /// 02:00 becomes 03:00 on day 10, and 03:00 becomes 02:00 on day 20 (local times).
    private let zone = ZoneTable(
        name: "Test/Zone", offsetSeconds: 3_600,
        transitions: [
            .init(at: 10 * day + hour, offsetSeconds: 7_200), .init(at: 20 * day + hour, offsetSeconds: 3_600),
        ])

    private func next(_ start: Int, _ end: Int, from wall: Int64, open: Bool = true) -> Int64 {
        TimeWindow(startMinute: start, endMinute: end, zone: "Test/Zone").next(from: wall, open: open, in: zone)
    }

    @Test func withinADay_andOverMidnight() {
        // Local times are an hour later.
        #expect(next(8 * 60, 10 * 60, from: Self.day) == Self.day + 7 * Self.hour)
        #expect(next(8 * 60, 10 * 60, from: Self.day + 8 * Self.hour) == Self.day + 8 * Self.hour)
        #expect(next(8 * 60, 10 * 60, from: Self.day + 9 * Self.hour) == 2 * Self.day + 7 * Self.hour)
        #expect(next(22 * 60, 6 * 60, from: Self.day) == Self.day)
        #expect(next(22 * 60, 6 * 60, from: Self.day + 5 * Self.hour) == Self.day + 21 * Self.hour)
        #expect(next(22 * 60, 24 * 60, from: Self.day + 23 * Self.hour) == Self.day + 45 * Self.hour)
        #expect(next(22 * 60, 6 * 60, from: Self.day, open: false) == Self.day + 5 * Self.hour)
    }

    @Test func startThatIsSkipped_opensWithTheJump() {
        let midnight = 10 * Self.day - Self.hour
        #expect(next(2 * 60 + 30, 4 * 60, from: midnight) == 10 * Self.day + Self.hour)
        #expect(next(5 * 60, 6 * 60, from: midnight) == 10 * Self.day + 3 * Self.hour)
        // The whole window is skipped that day.
        #expect(next(2 * 60, 3 * 60, from: midnight) == 11 * Self.day)
    }

    @Test func timeThatComesTwice_isOpenTwice() {
        let before = 20 * Self.day + Self.hour - 60_000
        #expect(next(2 * 60, 3 * 60, from: before) == before)
        #expect(next(2 * 60, 3 * 60, from: 20 * Self.day + Self.hour) == 20 * Self.day + Self.hour)
        #expect(next(2 * 60, 3 * 60, from: before, open: false) == 20 * Self.day + 2 * Self.hour)
    }

    @Test(arguments: [Int64(0), -5, 12_345_678_901, 1_700_000_000_123])
    func whatItSays_holds(wall: Int64) {
        for start in stride(from: 0, to: 1_440, by: 97) {
            for end in stride(from: 13, through: 1_440, by: 131) where start != end % 1_440 {
                for open in [true, false] {
                    let next = next(start, end, from: wall, open: open)
                    #expect(next >= wall)
                    #expect(self.next(start, end, from: next, open: open) == next)
                }
            }
        }
    }
}
