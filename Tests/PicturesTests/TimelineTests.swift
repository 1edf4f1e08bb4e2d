import Foundation
import Testing
import Wire

@testable import Pictures

@Suite struct TimelineTests {
    private static let start: Int64 = 1_700_000_000_000

    private func view(
        _ unit: Int, _ path: String, _ state: WireOperationState, on worker: String, from: Int64, to: Int64?, attempts: Int = 1,
        lost: [Int64] = []
    ) -> WireOperationView {
        .with {
            $0.unit = UInt32(unit)
            $0.path = path
            $0.state = state
            $0.worker = worker
            $0.attempts = UInt32(attempts)
            $0.startedAt = Self.start + from
            $0.finishedAt = to.map { Self.start + $0 } ?? 0
            if state == .failed { $0.errors = [.with { $0.message = "exited with 7" }] }
            $0.history = lost.map { at in
                .with {
                    ($0.at, $0.event, $0.text) = (Self.start + at, "lost", "an attempt on \(worker): it died")
                }
            }
        }
    }

    private func timeline(_ views: [WireOperationView], now: Int64 = 10_000) -> Timeline {
        Timeline(name: "work", state: "running", views: views, submittedAt: Self.start, now: Self.start + now)
    }

    @Test func whatRunsAtTheSameTime_standsInDifferentLines() {
        let group = WireOperationView.with {
            ($0.kind, $0.path, $0.startedAt) = (.group, "g", Self.start)
        }
        let waiting = WireOperationView.with { $0.path = "waits" }
        let timeline = timeline([
            group, waiting, view(3, "c", .succeeded, on: "h/10", from: 0, to: 50), view(1, "a", .succeeded, on: "h/2", from: 0, to: 100),
            view(2, "b", .succeeded, on: "h/2", from: 50, to: 150), view(4, "d", .running, on: "h/2", from: 100, to: nil),
        ])
        #expect(timeline.lanes.map(\.worker) == ["h/2", "h/2", "h/10"])
        #expect(timeline.lanes.map { $0.bars.map(\.path) } == [["a", "d"], ["b"], ["c"]])
        #expect(timeline.lanes[0].bars[1].to == Self.start + 10_000)
        #expect((timeline.start, timeline.end) == (Self.start, Self.start + 10_000))
    }

    @Test func svg_isXML_withFailuresAndLosses() throws {
        let text = TimelineSVG(
            timeline([
                view(1, "a<b", .succeeded, on: "h\"/0", from: 0, to: 1000),
                view(2, "bad", .failed, on: "h/1", from: 0, to: 3000, attempts: 2),
                view(3, "lost", .running, on: "h/1", from: 4000, to: nil, attempts: 2, lost: [3500]),
            ])
        ).text
        let xml = try #require(XMLReading(text))
        for words in ["a<b · succeeded · 1.0 s", "bad · failed · attempt 2 · 3.0 s · exited with 7", "lost: an attempt on h/1: it died"] {
            #expect(xml.texts.contains(words), "\(words)")
        }
        #expect(xml.texts.contains("failed, lost") && xml.texts.contains("attempts lost 1") && xml.texts.contains("failed 1"))
        #expect(text.contains("2 s</text>") && text.contains("prefers-color-scheme:dark"))
    }

    @Test func eachAttempt_isABar_thatSaysHowItEnded() throws {
        var tried = view(1, "tried", .succeeded, on: "h/0", from: 5000, to: 6000, attempts: 3)
        tried.earlierAttempts = [
            attempt(1, .failed, on: "h/0", from: 0, to: 900, "exited with 75"),
            attempt(2, .lost, on: "h/1", from: 2000, to: 4000, "it died"),
        ]
        // Its newest attempt has failed, and it waits to be tried again: that is no bar of its own.
        var waiting = view(2, "waits", .retrying, on: "h/1", from: 100, to: nil, attempts: 1)
        waiting.earlierAttempts = [attempt(1, .failed, on: "h/1", from: 100, to: 200, "no")]
        // All that it had was lost, and nothing of it counts.
        var lost = view(3, "gone", .failed, on: "h/2", from: 0, to: nil, attempts: 1)
        (lost.startedAt, lost.earlierAttempts) = (0, [attempt(1, .lost, on: "h/2", from: 10, to: 20, "it died")])
        let timeline = timeline([tried, waiting, lost])
        let bars = timeline.lanes.flatMap { lane in lane.bars.map { "\(lane.worker) \($0.path) \($0.attempt) \($0.mark)" } }
        #expect(
            bars == [
                "h/0 tried 1 failed and tried again", "h/0 tried 3 succeeded", "h/1 waits 1 failed and tried again", "h/1 tried 2 lost",
                "h/2 gone 1 lost",
            ])
        #expect(timeline.lanes[0].bars.map { $0.to - $0.from } == [900, 1000] && timeline.begun == 3 && timeline.end == Self.start + 6000)
        let xml = try #require(XMLReading(TimelineSVG(timeline).text))
        for words in ["tried · failed and tried again · attempt 1 · 900 ms · exited with 75", "tried · lost · attempt 2 · 2.0 s · it died"]
        {
            #expect(xml.texts.contains(words), "\(words)")
        }
        #expect(xml.texts.contains("failed and tried again 2") && xml.texts.contains("succeeded 1") && xml.texts.contains("3 begun"))
    }

    private func attempt(
        _ number: UInt32, _ ending: WireEarlierAttempt.Ending, on worker: String, from: Int64, to: Int64, _ text: String
    ) -> WireEarlierAttempt {
        .with {
            ($0.number, $0.ending, $0.worker, $0.text) = (number, ending, worker, text)
            ($0.startedAt, $0.finishedAt) = (Self.start + from, Self.start + to)
        }
    }

    @Test func ofNothing_thereIsAPicture() throws {
        #expect(try #require(XMLReading(TimelineSVG(timeline([])).text)).texts.contains("nothing has begun yet"))
    }

    @Test func veryMany_areBounded_andNoFailureVanishes() throws {
        var views: [WireOperationView] = []
        for index in 0..<50_000 {
            let from = Int64(index / 200) * 40
            let isBad = index == 12_050 || index == 49_999
            views.append(
                view(index, "o\(index)", isBad ? .failed : .succeeded, on: "h/\(index % 200)", from: from, to: from + 30))
        }
        let timeline = timeline(views)
        #expect(timeline.lanes.count == 200)
        let text = TimelineSVG(timeline).text
        let xml = try #require(XMLReading(text))
        #expect(xml.elements["rect"] ?? 0 < PictureLimits.lanesMax * 600)
        #expect(xml.texts.contains("100 more lines of 100 workers with 25000 operations, 1 failed, are not drawn"))
        #expect(xml.texts.contains("o12050 · failed") && xml.texts.contains("o49999 · failed"))
    }

    @Test func blocks_areAsManyAsThereArePixels() {
        var lane = Timeline.Lane(worker: "h/0")
        for index in 0..<10_000 {
            let at = Int64(index) * 10
            lane.bars.append(
                .init(
                    path: "\(index)", state: index == 5000 ? "failed" : "succeeded", attempt: 1, from: at,
                    to: at + (index == 7000 ? 9 : 5),
                    error: ""))
        }
        let blocks = LaneBlocks(lane, start: 0, scale: 1000.0 / 100_000).blocks
        #expect(blocks.count <= 500)
        #expect(blocks.reduce(0) { $0 + $1.count } == 10_000)
        #expect(blocks.count { $0.mark == "failed" } == 1)
        #expect(blocks.first { $0.mark == "failed" }?.named.first?.path == "5000")
        for (one, next) in zip(blocks, blocks.dropFirst()) { #expect(one.x < next.x) }
        // Wide ones stay what they are.
        let wide = LaneBlocks(lane, start: 0, scale: 1).blocks
        #expect(wide.count == 10_000 && wide.allSatisfy { $0.count == 1 })
    }

    @Test(
        arguments: [
            (0, 1), (7, 1), (850, 100), (10_000, 1000), (61_000, 10_000), (3_600_000, 600_000), (90_000_000, 10_800_000),
            (40_000_000_000, 5_184_000_000),
        ] as [(Int64, Int64)]) func axis_hasRoundSteps(_ span: Int64, _ step: Int64)
    {
        let axis = TimeAxis(span: span, count: 10)
        #expect(axis.step == step)
        #expect((1...13).contains(axis.marks.count))
    }

    @Test(
        arguments: [
            (0, "0"), (250, "250 ms"), (1500, "1.5 s"), (60_000, "1 min"), (90_000, "1 min 30 s"), (5_400_000, "1 h 30 min"),
            (97_200_000, "1 d 3 h"),
        ] as [(Int64, String)]) func axis_isReadByPeople(_ milliseconds: Int64, _ text: String)
    {
        #expect(TimeAxis.text(milliseconds) == text)
    }
}
