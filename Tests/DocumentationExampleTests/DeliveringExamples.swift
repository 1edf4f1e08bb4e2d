// The examples of Delivering.md.

import AOperation
import Foundation
import Testing

final class CountWords: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<String, AOperationError>?

    override func execute() {
        guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        finish(with: receivedValue.map { text in text.split(whereSeparator: \.isWhitespace).count })
    }
}

@Suite("Delivering", .timeLimit(.minutes(1)))
struct DeliveringExamples {
    final class CountLines: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
        var receivedValue: Result<String, AOperationError>?

        override func execute() {
            guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
            finish(with: receivedValue.map { text in text.split(separator: "\n").count })
        }
    }

    final class Sum: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
        var receivedValue: Result<[Int], AOperationError>?

        override func execute() {
            guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
            finish(with: receivedValue.map { $0.reduce(0, +) })
        }
    }

    final class Report: ResultableOperation<String>, ReceiverOperation, @unchecked Sendable {
        var receivedValue: Result<(String, Int), AOperationError>?

        override func execute() {
            guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
            finish(with: receivedValue.map { text, total in "\(text): \(total)" })
        }
    }

    final class OutcomesOf: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
        var receivedValue: Result<GroupOutcomes, AOperationError>?

        override func execute() {
            guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
            finish(with: receivedValue.map { outcomes in outcomes.count { $0.isSuccess } })
        }
    }

    let files: TemporaryFiles
    let path: String
    let queue = AOperationQueue()

    init() throws {
        files = try TemporaryFiles()
        path = try files.file("a.txt", "one two\nthree").path()
    }

    @Test func receiver_getsTheValue() async throws {
        let path = path
        ReadText(path: path)
            .deliver(to: CountWords())
            .didFinish { result in print(result) }
            .add(to: queue)
        #expect(try await ReadText(path: path).deliver(to: CountWords()).value(on: queue) == 3)
    }

    @Test func failureAndCancellation_areDelivered() async {
        let failed = await ReadText(path: "/no/such/file").deliver(to: CountWords()).result(on: queue)
        #expect(failed.error?.publisher == "ReadText")
        let producer = ReadText(path: path)
        let receiver = producer.deliver(to: CountWords())
        producer.cancel()
        #expect(await receiver.result(on: queue).error?.publishedError is AOperationError.IsCancelled)
        #expect(receiver.outcome?.isFailure == true)
    }

    @Test func results_goToSeveral_andComeFromSeveral() async throws {
        let path = path
        let text = ReadText(path: path)
        let words = text.deliver(to: CountWords())
        let lines = text.deliver(to: CountLines())
        let total = [words, lines].deliver(to: Sum())
        let report = deliver(text, total, to: Report())
        let headline = report.deliver(
            to: MapOperationBlock<String, String> { received, finish in
                finish((received ?? .success("")).map { $0.uppercased() })
            })
        #expect(try await headline.value(on: queue) == "ONE TWO\nTHREE: 5")
    }

    @Test func group_deliversItsChildrensValues() async throws {
        let paths = [path, try files.file("b.txt", "four").path()]
        let texts = GroupOperation(paths.map { ReadText(path: $0) })
        let book = texts.deliver(to: JoinTexts())
        #expect(try await book.value(on: queue) == "one two\nthree\nfour")
        let outcomes = GroupOperation(ReadText(path: path), ReadText(path: "/no/such/file")).deliver(to: OutcomesOf())
        #expect(try await outcomes.value(on: queue) == 1)
    }

    @Test func childWithAnotherOutput_isNamed() async {
        let result = await GroupOperation(ReadText(path: path), Job()).deliver(to: JoinTexts()).result(on: queue)
        let mismatch = result.error?.publishedError as? AOperationError.ChildOutputMismatch
        #expect(mismatch?.index == 1)
    }

    @Test func cancellingAReceiver_cancelsItsProducer() {
        let producer = ReadText(path: path)
        producer.deliver(to: CountWords()).cancel()
        #expect(producer.isCancelled)
    }
}
