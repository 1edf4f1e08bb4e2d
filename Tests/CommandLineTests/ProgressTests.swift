import Cluster
import Testing
import Wire

@testable import aop

@Suite struct ProgressTests {
    private func view(total: UInt64, succeeded: UInt64 = 0, failed: UInt64 = 0, running: UInt64 = 0) -> WireSubmissionView {
        .with {
            $0.id = "abc"
            $0.name = "word-count"
            $0.state = .running
            $0.submittedAt = 1000
            $0.counts.total = total
            $0.counts.succeeded = succeeded
            $0.counts.failed = failed
            $0.counts.running = running
        }
    }

    private func event(_ path: String, _ state: WireOperationState, at: Int64 = 1500) -> WireEvent {
        .with {
            $0.path = path
            $0.state = state
            $0.at = at
            $0.worker = "h/0"
        }
    }

    private func lines(_ model: ProgressModel, width: Int) -> [String] {
        ProgressScreen(model: model, style: Style(isEnabled: false)).lines(width: width, now: 3000)
    }

    @Test func screen_showsBarCountsRateTimeAndWhatRunsLongest() {
        var model = ProgressModel()
        _ = model.apply(.view(view(total: 10)), now: 1000)
        _ = model.apply(
            .events(
                [event("count", .running), event("count/0", .running), event("count/1", .running, at: 1400), event("files", .succeeded)],
                view(total: 10, succeeded: 4, failed: 1, running: 2)), now: 2000)
        #expect(
            lines(model, width: 76) == [
                "word-count  BAR  5/10  2 running  1 failed  2.5/s  2.0 s  2.0 s left".replacing("BAR", with: bar(model)),
                "  ▸ count/1  1.6 s  h/0", "  ▸ count/0  1.5 s  h/0",
            ])
    }

    /// The bar's width follows from the rest of the line; half of it is full.
    private func bar(_ model: ProgressModel, width: Int = 76) -> String {
        let head = lines(model, width: width)[0]
        let bar = head.filter { $0 == "█" || $0 == "░" }
        #expect(abs(bar.filter { $0 == "█" }.count * 2 - bar.count) <= 2)
        return bar
    }

    @Test(arguments: [10, 20, 40, 80, 200]) func screen_neverExceedsTheWidth(_ width: Int) {
        var model = ProgressModel()
        _ = model.apply(.view(view(total: 100_000, succeeded: 99_999, failed: 1)), now: 1000)
        _ = model.apply(.events((0..<9).map { event("a/very/long/path/\($0)", .running) }, view(total: 100_000, running: 9)), now: 2000)
        for line in lines(model, width: width) { #expect(DisplayWidth.of(line) <= width, "\(line)") }
    }

    @Test func whatWaits_andAPause_areShown_andNoEndIsPromisedThen() {
        var model = ProgressModel()
        _ = model.apply(.view(view(total: 10)), now: 1000)
        var paused = view(total: 10, succeeded: 5)
        paused.counts.pending = 5
        paused.state = .paused
        _ = model.apply(.events([event("a", .succeeded)], paused), now: 2000)
        #expect(lines(model, width: 100) == ["word-count  \(bar(model, width: 100))  5/10  5 waiting  paused  2.5/s  2.0 s"])
    }

    @Test func interruption_isShown_untilTheCoordinatorIsBack() {
        var model = ProgressModel()
        _ = model.apply(.view(view(total: 1)), now: 1000)
        _ = model.apply(.interrupted(reason: "gone"), now: 2000)
        #expect(lines(model, width: 80).last?.contains("not heard (gone)") == true)
        _ = model.apply(.view(view(total: 1)), now: 2500)
        #expect(lines(model, width: 80).count == 1)
    }

    @Test func whatRan_isShownAfterAnInterruption_untilItIsToldOtherwise() {
        var model = ProgressModel()
        _ = model.apply(.view(view(total: 2)), now: 1000)
        _ = model.apply(.events([event("a", .running), event("b", .running)], view(total: 2, running: 2)), now: 1500)
        _ = model.apply(.interrupted(reason: "gone"), now: 2000)
        _ = model.apply(.view(view(total: 2, running: 2)), now: 2500)
        _ = model.apply(.events([event("a", .succeeded)], view(total: 2, succeeded: 1, running: 1)), now: 2600)
        #expect(lines(model, width: 80).dropFirst() == ["  ▸ b  1.5 s  h/0"])
    }
}
