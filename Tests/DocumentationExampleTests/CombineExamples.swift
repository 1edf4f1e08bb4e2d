// The examples of Combine.md.

import AOperation
import AOperationCombine
import Foundation
import OpenCombine
import Testing

@Suite("Combine", .timeLimit(.minutes(1)))
struct CombineExamples {
    final class ReadText: ResultableOperation<String>, @unchecked Sendable {
        let path: String

        init(path: String) {
            self.path = path
            super.init()
        }

        override func execute() {
            finish(with: Result { try String(contentsOfFile: path, encoding: .utf8) }.mapError { AOperationError($0) })
        }
    }

    final class ReadFile: ResultableOperation<String>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
        var receivedValue: Result<String, AOperationError>?

        func new() -> ReadFile { ReadFile() }

        override func execute() {
            let path = receivedValue ?? .failure(.receivedValueIsNil(in: self))
            finish(
                with: path.flatMap { path in Result { try String(contentsOfFile: path, encoding: .utf8) }.mapError { AOperationError($0) } }
            )
        }
    }

    /// What is printed in the article. The closures are the main actor's, which is checked when they are called.
    @MainActor private final class Reader {
        var lines: [String] = []
        var done: () -> Void = {}
        private var subscription: AnyCancellable?

        private func show(_ completion: Subscribers.Completion<AOperationError>) {
            lines.append("\(completion)")
            done()
        }

        private func show(_ count: Int) { lines.append("\(count)") }

        func read(_ path: String) {
            let queue = AOperationQueue()
            queue.callbackQueue = .main
            let subscription = ReadText(path: path).publisher(on: queue)
                .map(\.count)
                .sink { completion in
                    self.show(completion)
                } receiveValue: { count in
                    self.show(count)
                }
            self.subscription = subscription
        }
    }

    @Test @MainActor func publisherOfAnOperation_isHeardOnTheMainActor() async throws {
        let files = try TemporaryFiles()
        let path = try files.file("text", "four").path
        let reader = Reader()
        let (ended, end) = AsyncStream<Void>.makeStream()
        reader.done = { end.finish() }
        reader.read(path)
        for await _ in ended {}
        #expect(reader.lines == ["4", "finished"])
    }

    @Test func publisher_deliversToAnOperation() async throws {
        let files = try TemporaryFiles()
        let path = try files.file("text", "four").path
        let queue = AOperationQueue()
        let counts = Just(path).setFailureType(to: AOperationError.self)
            .deliver(to: ReadFile(), on: queue)
        let text = await withCheckedContinuation { (done: CheckedContinuation<String, Never>) in
            keep(
                counts.sink { _ in
                } receiveValue: {
                    done.resume(returning: $0)
                })
        }
        #expect(text == "four")
    }

    /// Until the process ends.
    private func keep(_ subscription: AnyCancellable) { _ = Unmanaged.passRetained(subscription) }
}
