import AOperation
import Cluster
import Foundation
import Testing
import Tracing
import Worker

/// The examples of docs/tracing.md are compiled.
@Suite struct TracingDocumentTests {
    /// Reads a text file.
    final class ReadText: ResultableOperation<String>, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var path: String }
        let parameters: Parameters

        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
        }
    }

    static func makeTracer() -> some Tracer { NoOpTracer() }

    enum Submitter {
        static func run(_ nightly: AOperation, _ tracer: any Tracer) async throws {
            InstrumentationSystem.bootstrap(tracer)
            let cluster = try await ClusterQueue.connect("tcp://127.0.0.1:7600")
            let outcome = try await withSpan("nightly") { _ in
                try await cluster.submit(nightly, key: "nightly-2031-05-01").outcome()
            }
            print(outcome.isSuccess)
        }
    }

    struct TextWorker: WorkerCommand {
        static let operations: [any ClusterOperation.Type] = [ReadText.self]

        static func bootstrap() { InstrumentationSystem.bootstrap(makeTracer()) }
    }

    /// Every line of the document's Swift examples is a line of this file.
    @Test func document_showsWhatIsCompiledHere() throws {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let document = try String(contentsOf: root.appendingPathComponent("docs/tracing.md"), encoding: .utf8)
        let code = try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let parts = document.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
        #expect(parts.count == 2)
        for line in parts.flatMap({ $0.split(separator: "\n") }) {
            let plain = line.trimmingCharacters(in: .whitespaces).replacing("@main ", with: "")
            #expect(code.contains(plain), "\(line)")
        }
    }
}
