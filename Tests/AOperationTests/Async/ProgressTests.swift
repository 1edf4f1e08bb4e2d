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

    @Test func observersAndReaders_hearOfAllAttempts_asOfTheOperationTheyKnow() async {
        let (heard, seen) = (Tally<String>(), Tally<String>())
        let operation = Trying(attempts: Log<Int>(), failures: 2)
        let known = ObjectIdentifier(operation)
        operation.addObserver(BlockObserver(progressHandler: { heard.append("\($1.message ?? "") \(ObjectIdentifier($0) == known)") }))
        operation.retryOnFailure { retries, _, retry in
            // The next attempt begins when the reader has seen this one.
            Task {
                await seen.reaches(retries + 1)
                retry(true)
            }
        }
        let reader = Task { for await progress in operation.progressUpdates { seen.append(progress.message ?? "") } }
        operation.add(to: AOperationQueue())
        await reader.value
        #expect(seen.entries == ["attempt 1", "attempt 2", "attempt 3"])
        #expect(heard.entries == ["attempt 1 true", "attempt 2 true", "attempt 3 true"])
    }

    @Test func observers_hearOfAllAttempts_thatTheEndOfTheNetAsksFor() async {
        let heard = Log<String>()
        let first = Trying("first", attempts: Log<Int>(), failures: 1)
        let last = first.deliver(to: Trying("last", attempts: Log<Int>(), failures: 1))
        for operation in [first, last] {
            operation.addObserver(BlockObserver(progressHandler: { heard.append("\($0.publisherName) \($1.message ?? "")") }))
        }
        last.retry(RetryPolicy(attempts: 5)).add(to: AOperationQueue())
        await last.ended()
        #expect(last.outcome?.isSuccess == true)
        #expect(heard.entries.filter { $0.hasPrefix("first") } == ["first attempt 1", "first attempt 2"])
        #expect(heard.entries.filter { $0.hasPrefix("last") } == ["last attempt 1", "last attempt 2"])
    }
}

/// Reports which attempt it is. Passes a failure on, then fails as often as it was told.
private final class Trying: VoidOperation, ReceiverOperation, RetryableOperation, @unchecked Sendable {
    var receivedValue: Result<Void, AOperationError>?
    private let attempts: Log<Int>
    private let failures: Int
    private let title: String

    init(_ title: String = "Trying", attempts: Log<Int>, failures: Int) {
        self.attempts = attempts
        self.failures = failures
        self.title = title
        super.init()
        name = title
    }

    func new() -> Trying { Trying(title, attempts: attempts, failures: failures) }

    override func execute() {
        if case .failure(let error)? = receivedValue { return finish(error) }
        attempts.append(1)
        reportProgress(0.5, message: "attempt \(attempts.count)")
        finish(attempts.count > failures ? nil : AOperationError(Failed(text: "attempt \(attempts.count)")))
    }
}
