// Basics, "AOperationObserver": the document has no snippet there, but names what there is.

import AOperation
import Foundation
import Testing

@Suite("Basics: AOperationObserver", .timeLimit(.minutes(1)))
struct AOperationObserverSnippets {
    @Test func blockObserver_hearsStartProductionAndFinish() async {
        final class Producer: VoidOperation, @unchecked Sendable {
            override func execute() {
                produce(SampleOperation())
                finish()
            }
        }
        let heard = Heard()
        let operation = Producer()
        operation.addObserver(
            BlockObserver(
                startHandler: { _ in heard("start") },
                produceHandler: { _, produced in heard("produce \(produced.name ?? "")") },
                finishHandler: { _, errors in heard("finish \(errors.count)") }))
        operation.add(to: AOperationQueue())
        await heard.wait(for: "finish 0")
        #expect(heard.words == ["start", "produce SampleOperation", "finish 0"])
    }
}
