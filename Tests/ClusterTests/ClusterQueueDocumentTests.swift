import AOperation
import Cluster
import Foundation
import Testing

/// The example of docs/cluster-queue.md is compiled.
@Suite struct ClusterQueueDocumentTests {
    /// Reads a text file.
    final class ReadText: ResultableOperation<String>, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var path: String }
        let parameters: Parameters

        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
        }
    }

    /// Counts the words of a text.
    final class CountWords: ResultableOperation<Int>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var minimumLength: Int? }
        let parameters: Parameters
        var receivedValue: Result<String, AOperationError>?

        init(_ parameters: Parameters = .init()) {
            self.parameters = parameters
            super.init()
        }
    }

    enum Example {
        static func run() async throws {
            let cluster = try await ClusterQueue.connect("tcp://127.0.0.1:7600")

            let words = try await ReadText(.init(path: "a.txt")).deliver(to: CountWords()).value(on: cluster)
            print(words)

            let texts = ["a.txt", "b.txt"].map { ReadText(.init(path: $0)).retry(RetryPolicy(attempts: 3)) }
            let count = CountWords()
            texts[1].deliver(to: count)
            let nightly = OrderedGroupOperation(GroupOperation(texts + [count]), ReadText(.init(path: "c.txt")).exclusive("release"))
            nightly.didFinish { result in print(result) }

            let submission = try await cluster.submit(nightly, key: "nightly-2031-05-01")
            for try await event in submission.events { print(event) }
            let outcome = try await submission.outcome()
            print(outcome.isSuccess, outcome[count]?.value ?? 0)

            await cluster.close()
        }

        static func host(on cluster: ClusterQueue) async throws {
            // Executes here, between two operations of workers.
            let lowercase = MapOperationBlock<String, String> { text, finish in finish((text ?? .success("")).map { $0.lowercased() }) }
            let report = ReadText(.init(path: "a.txt")).deliver(to: lowercase).deliver(to: CountWords())
            print(try await report.value(on: cluster))
        }
    }

    /// Every line of the document's examples stands in this file, in its order.
    @Test(arguments: ["let cluster", "// Executes here"]) func example_isTheOneThatIsCompiled(_ beginning: String) throws {
        let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../docs/cluster-queue.md")
        let blocks = try lines(of: document).split { $0.hasPrefix("```") }
        let example = try #require(blocks.first { $0.contains { $0.hasPrefix(beginning) } })
        let source = try lines(of: URL(fileURLWithPath: #filePath))
        let start = try #require(source.firstIndex(of: example.first ?? ""))
        #expect(Array(source[start...].prefix(example.count)) == Array(example))
    }

    private func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
