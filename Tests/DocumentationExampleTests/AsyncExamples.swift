// The examples of Async.md.

import AOperation
import Foundation
import Testing

@Suite("Async code", .timeLimit(.minutes(1)))
struct AsyncExamples {
    final class CountLines: AsyncOperation<Int>, @unchecked Sendable {
        let file: URL

        init(of file: URL) {
            self.file = file
            super.init()
        }

        override func run() async throws -> Int {
            let text = try String(contentsOf: file, encoding: .utf8)
            try Task.checkCancellation()
            return text.split(separator: "\n").count
        }
    }

    final class LoadText: ResultableOperation<String>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
        var receivedValue: Result<URL, AOperationError>?

        func new() -> LoadText { LoadText() }

        override func execute() {
            let result = (receivedValue ?? .failure(.receivedValueIsNil(in: self))).flatMap { file in
                Result { try String(contentsOf: file, encoding: .utf8) }.mapError { AOperationError($0) }
            }
            finish(with: result)
        }
    }

    final class Search: AsyncOperation<Int>, PartialResultOperation, @unchecked Sendable {
        typealias PartialResult = String

        let words: [String]

        init(in words: [String]) {
            self.words = words
            super.init()
        }

        override func run() async throws -> Int {
            var count = 0
            for word in words where word.hasPrefix("op") {
                await send(word)
                count += 1
            }
            return count
        }
    }

    final class CopyFiles: AsyncOperation<Int>, @unchecked Sendable {
        let files: [URL]

        init(_ files: [URL]) {
            self.files = files
            super.init()
        }

        override func run() async throws -> Int {
            for (index, file) in files.enumerated() {
                reportProgress(Double(index) / Double(files.count), message: file.lastPathComponent)
                try await copy(file)
            }
            return files.count
        }

        private func copy(_ file: URL) async throws {}
    }

    final class Longest: AsyncOperation<String>, StreamReceiver, @unchecked Sendable {
        var receivedElements: ReceivedElements<String>?

        func new() -> Longest { Longest() }

        override func run() async throws -> String {
            var longest = ""
            guard let receivedElements else { return longest }
            for try await word in receivedElements where word.count > longest.count { longest = word }
            return longest
        }
    }

    let queue = AOperationQueue()
    let files: TemporaryFiles
    let first: URL
    let second: URL

    init() throws {
        files = try TemporaryFiles()
        first = try files.file("a.txt", "one\ntwo")
        second = try files.file("b.txt", "three")
    }

    @Test func asyncWork_isAwaited() async throws {
        let file = first
        let lines = try await CountLines(of: file).value(on: queue)
        #expect(lines == 2)
    }

    @Test func cancelledTask_cancelsTheOperation() async {
        let operation = CountLines(of: first)
        queue.isSuspended = true
        let waiting = Task { await operation.result(on: queue) }
        waiting.cancel()
        #expect(await waiting.value.error?.publishedError is AOperationError.IsCancelled)
    }

    @Test func elements_areDelivered() async throws {
        let files = AsyncStream { continuation in
            for file in [first, second] { continuation.yield(file) }
            continuation.finish()
        }
        for try await text in files.deliver(to: LoadText(), on: queue) {
            print(text)
        }
        let others = AsyncStream { continuation in
            for file in [second, first] { continuation.yield(file) }
            continuation.finish()
        }
        var texts: [String] = []
        for try await text in others.deliver(to: LoadText(), on: queue) { texts.append(text) }
        #expect(texts == ["three", "one\ntwo"])
    }

    @Test func partialResults_comeInOrder() async throws {
        for try await word in Search(in: ["operator", "opera", "tower"]).partialResults(on: queue) {
            print(word)
        }
        var words: [String] = []
        for try await word in Search(in: ["operator", "opera", "tower"]).partialResults(on: queue) { words.append(word) }
        #expect(words == ["operator", "opera"])
    }

    @Test func streams_areConsumedWhileTheyAreSent() async throws {
        let longest = Search(in: ["operator", "opera", "tower"]).stream(to: Longest())
        let word = try await longest.value(on: queue)
        #expect(word == "operator")
    }

    @Test func progress_endsWithTheOperation() async throws {
        let files = [first, second]
        let copying = CopyFiles(files)
        let watching = Task {
            for await progress in copying.progressUpdates { print(progress.fraction, progress.message ?? "") }
        }
        #expect(try await copying.value(on: queue) == 2)
        await watching.value
        #expect(copying.latestProgress?.message == "b.txt")
    }
}
