import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience), .serialized)
struct AlertOperationTests {
    let queue = AOperationQueue()

    @Test func presentedAlert_endsWithTheFirstAnswer_afterItsHandler() async {
        let log = Log<String>()
        let alert = AlertOperation { alert in
            log.append("\(alert.title ?? "")/\(alert.message ?? "") \(alert.actions.map(\.title)) \(alert.actions.map(\.style))")
            alert.choose(1)
            alert.choose(0)
        }
        alert.title = "Delete?"
        alert.message = "For ever"
        alert.addAction("Yes", style: .destructive) { _ in log.append("yes") }
        alert.addAction("No", style: .cancel) { alert in log.append("no \(alert.isFinished)") }
        #expect(await alert.result(on: queue).error == nil)
        #expect(log.entries.count == 2)
        #expect(log.entries.last == "no false")
        #expect(log.entries.first?.hasPrefix("Delete?/For ever [\"Yes\", \"No\"]") == true)
    }

    @Test func registeredPresenter_showsAlertsWithoutTheirOwn() async {
        let log = Log<String>()
        AlertOperation.presenter = { alert in
            log.append(alert.title ?? "")
            alert.choose(-1)
        }
        defer { AlertOperation.presenter = nil }
        let alert = AlertOperation()
        alert.title = "hello"
        alert.addAction("ok") { _ in log.append("chosen") }
        #expect(await alert.result(on: queue).error == nil)
        #expect(log.entries == ["hello"])
    }

    @Test func withoutAPresenter_itEnds() async {
        let alert = AlertOperation()
        alert.title = "nobody is there to see this"
        #expect(await alert.result(on: queue).error == nil)
    }

    @Test func cancelled_itNeedsNoAnswer() async {
        let shown = Signal()
        let alert = AlertOperation { _ in shown.fire() }
        alert.addAction("ok") { _ in Issue.record("chosen after the cancellation") }
        alert.add(to: queue)
        await shown.wait()
        alert.cancel()
        alert.choose(0)
        await alert.ended()
        #expect(alert.outcome?.isCancelled == true)
    }
}
