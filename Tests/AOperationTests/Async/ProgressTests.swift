import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct ProgressTests {
    @Test func observers_hearEveryReport() async {
        let heard = Log<OperationProgress>()
        let operation = MapOperationBlock<Void, Int> { _, finish in finish(.success(1)) }
        operation.observers(BlockObserver(progressHandler: { _, progress in heard.append(progress) }))
        operation.didStart { [weak operation] in
            operation?.reportProgress(0.25, message: "reading")
            operation?.reportProgress(0.5)
        }
        _ = await operation.result(on: AOperationQueue())
        operation.reportProgress(0.75)
        #expect(heard.entries == [OperationProgress(0.25, message: "reading"), OperationProgress(0.5)])
        #expect(operation.latestProgress == OperationProgress(0.5))
    }

    @Test(arguments: [(-1.0, 0.0), (2.0, 1.0), (.nan, 0.0), (0.5, 0.5)] as [(Double, Double)])
    func fraction_isBetweenZeroAndOne(given: Double, kept: Double) {
        #expect(OperationProgress(given).fraction == kept)
    }

    @Test func updates_beginWithTheLatest_andEndWithTheOperation() async {
        let gate = Gate()
        let seen = Tally<Double>()
        gate.add(to: AOperationQueue())
        gate.reportProgress(0.1)
        gate.reportProgress(0.2)
        let reader = Task { for await progress in gate.progressUpdates { seen.append(progress.fraction) } }
        await seen.reaches(1)
        gate.reportProgress(0.3)
        await seen.reaches(2)
        await gate.started.wait()
        gate.open()
        await reader.value
        #expect(seen.entries == [0.2, 0.3])
    }

    @Test func cancelledReader_stopsReading() async {
        let gate = Gate()
        let reader = Task { for await _ in gate.progressUpdates {} }
        reader.cancel()
        await reader.value
    }

    @Test func nextAttempt_reportsToTheReadersOfTheFirst() async {
        let first = Gate()
        let second = Gate()
        second.takeOverReaders(of: first)
        second.reportProgress(0.4)
        #expect(first.latestProgress?.fraction == 0.4)
    }
}
