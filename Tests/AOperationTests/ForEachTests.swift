import Foundation
import Testing

@testable import AOperation

/// One operation for each element of a result.
@Suite(.timeLimit(Load.patience))
struct ForEachTests {
    let queue = AOperationQueue()

    /// Ends with the double on another thread.
    private final class Double: ResultableOperation<Int>, @unchecked Sendable {
        private let number: Int
        private let body: @Sendable (Int) -> AOperationError?

        init(_ number: Int, body: @escaping @Sendable (Int) -> AOperationError? = { _ in nil }) {
            self.number = number
            self.body = body
            super.init()
            name = "double of \(number)"
        }

        override func execute() {
            DispatchQueue.global().async { [self] in
                finish(with: body(number).map { .failure($0) } ?? .success(number * 2))
            }
        }
    }

    @Test func eachElement_hasAnOperation_andTheValuesAreInTheirOrder() async throws {
        let sum = Value(Array(1...50)).forEach { Double($0) }.deliver(to: PassOn<[Int]>())
        #expect(try await sum.value(on: queue) == (1...50).map { $0 * 2 })
    }

    @Test func withoutElements_itSucceeds_withoutValues() async throws {
        let operation = Value([Int]()).forEach { Double($0) }
        #expect(try await operation.value(on: queue) == [])
    }

    @Test func producersFailure_isItsFailure_andNothingIsMade() async {
        let made = Log<Int>()
        let operation = Failing<[Int]>("no list").forEach { element in
            made.append(element)
            return Double(element)
        }
        let error = await operation.result(on: queue).error
        #expect(error?.localizedDescription == "no list" && error?.publisher == "no list")
        #expect(made.count == 0)
    }

    @Test func withoutAProducer_itFails() async {
        let error = await ForEachOperation<Int, Int> { Double($0) }.result(on: queue).error
        #expect(error?.publishedError is AOperationError.ReceivedValueIsNil)
    }

    @Test func severalProducers_deliverOneElementEach() async throws {
        let each = ForEachOperation<Int, Int> { Double($0) }
        [Value(1), Value(2), Value(3)].deliver(to: each)
        #expect(try await each.value(on: queue) == [2, 4, 6])
    }

    @Test func failures_areAllTold_inTheOrderOfTheElements_andTheOthersRun() async {
        let ran = Log<Int>()
        let operation = Value(Array(1...6)).forEach { element in
            Double(element) { number in
                ran.append(number)
                return number.isMultiple(of: 2) ? AOperationError(Failed(text: "\(number)")) : nil
            }
        }
        queue.addOperation(operation)
        await operation.ended()
        #expect(operation.publishedErrors.map(\.localizedDescription) == ["2", "4", "6"])
        #expect(Set(ran.entries) == Set(1...6))
    }

    @Test func onFailureStop_cancelsTheOthers() async {
        let ran = Log<Int>()
        let operation = Value(Array(1...100)).forEach(maxConcurrent: 1, onFailure: .stop) { element in
            Double(element) { number in
                ran.append(number)
                return number == 3 ? AOperationError(Failed(text: "stop")) : nil
            }
        }
        queue.addOperation(operation)
        await operation.ended()
        #expect(operation.publishedErrors.map(\.localizedDescription) == ["stop"])
        #expect(ran.entries == [1, 2, 3])
    }

    @Test func maxConcurrent_isKeptTo() async throws {
        let gauge = Gauge()
        let operation = Value(Array(1...40)).forEach(maxConcurrent: 3) { element in
            Double(element) { _ in
                gauge.enter()
                defer { gauge.leave() }
                return nil
            }
        }
        _ = try await operation.value(on: queue)
        #expect(gauge.most <= 3)
    }

    @Test func queueOfOneSlot_isEnough() async throws {
        let narrow = AOperationQueue()
        narrow.maxConcurrentOperationCount = 1
        let nested = Value([[1, 2], [3], []]).forEach { list in Value(list).forEach { Double($0) } }
        #expect(try await nested.value(on: narrow) == [[2, 4], [6], []])
    }

    @Test func childThatIsAChain_countsByItsEnd() async throws {
        let operation = Value([1, 2, 3]).forEach { element in Value(element).deliver(to: PassOn<Int>()) }
        #expect(try await operation.value(on: queue) == [1, 2, 3])
    }

    @Test func cancelling_cancelsWhatItHasMade() async {
        let gates = Log<Gate>()
        let started = Signal()
        let operation = Value([1, 2]).forEach { _ in
            let gate = Gate()
            gates.append(gate)
            gate.addObserver(StartedObserver { _ in started.fire() })
            return gate
        }
        queue.addOperation(operation)
        await started.wait()
        operation.cancel()
        await operation.ended()
        await queue.idle()
        #expect(operation.outcome?.isCancelled == true)
        #expect(gates.entries.allSatisfy { $0.outcome?.isCancelled == true })
    }

    @Test func retry_makesAllAnew_fromWhatWasReceived() async throws {
        let made = Log<Int>()
        let failures = Log<Void>()
        let operation = Value([1, 2]).forEach { element in
            made.append(element)
            return Double(element) { number in
                guard number == 2, failures.count == 0 else { return nil }
                failures.append(())
                return AOperationError(Failed(text: "once"))
            }
        }
        operation.retry(RetryPolicy(attempts: 2))
        #expect(try await operation.value(on: queue) == [2, 4])
        #expect(made.entries == [1, 2, 1, 2])
    }

    @Test func child_mayBeTriedAgainByItself() async throws {
        let made = Log<Int>()
        let operation = Value([1, 2]).forEach { element -> ResultableOperation<Void> in
            made.append(element)
            return Flaky(failures: Guarded(element)).retry(RetryPolicy(attempts: 3))
        }
        #expect(try await operation.value(on: queue).count == 2)
        #expect(made.entries == [1, 2])
    }

    @Test func locksOfTheChildren_excludeEachOther() async throws {
        let key = freshKey()
        let gauge = Gauge()
        let operation = Value(Array(1...20)).forEach { element in
            Double(element) { _ in
                gauge.enter()
                defer { gauge.leave() }
                return nil
            }.exclusive(key)
        }
        _ = try await operation.value(on: queue)
        #expect(gauge.most == 1)
    }

    @Test func manyElements_areNoBurden() async throws {
        let count = Load.count(20_000)
        let operation = Value(Array(0..<count)).forEach { Value($0) }
        #expect(try await operation.value(on: queue) == Array(0..<count))
    }

    @Test func whatItMade_isReleased() async throws {
        let ends = Log<Leash>()
        do {
            let operation = Value([1]).forEach { element in
                let child = Value(element)
                ends.append(Leash(child))
                return child
            }
            _ = try await operation.value(on: queue)
        }
        await queue.idle()
        await callbacksDelivered()
        #expect(ends.count == 1 && ends.entries.allSatisfy { $0.operation == nil })
    }

    /// Knows an operation without holding it.
    private struct Leash: @unchecked Sendable {
        weak var operation: AOperation?
        init(_ operation: AOperation) { self.operation = operation }
    }
}
