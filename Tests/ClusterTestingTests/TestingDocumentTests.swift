import AOperation
import ClusterTesting
import Foundation
import Testing

/// The example of docs/testing.md, as it stands there.
@Suite struct TestingDocumentTests {
    @Test func example_runs_andItsGraphSurvivesCrashes() async throws {
        let cluster = try InMemoryCluster(workers: 3, clock: .virtual, seed: 42, faults: [.workerCrash(every: 4)])
        try await cluster.register(Nap.self) { [clock = cluster.clock] in Nap($0, clock: clock) }

        let naps = (0..<12).map { Nap("\($0)", seconds: 3_600) }
        let put = Put()
        naps.deliver(to: put)
        let outcome = try await cluster.run(GroupOperation(naps + [put]))

        print(outcome.isSuccess, outcome[put]?.value ?? "")
        print(cluster.crashes.workers, cluster.attempts(of: "Nap-2"), cluster.clock.now.elapsed)

        #expect(outcome.isSuccess)
        #expect(outcome[put]?.value?.hasPrefix("0+1+2") == true)
    }

    /// Every line of the document's Swift example is a line of this file.
    @Test func document_showsWhatIsCompiledHere() throws {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let document = try String(contentsOf: root.appendingPathComponent("docs/testing.md"), encoding: .utf8)
        let code = try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let parts = document.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
        #expect(parts.count == 1)
        for line in parts.flatMap({ $0.split(separator: "\n") }) {
            #expect(code.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
        }
    }
}
