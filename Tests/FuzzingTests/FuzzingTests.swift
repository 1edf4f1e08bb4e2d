import Foundation
import Fuzzing
import Testing

/// What others write is read without a trap: the corpus, and a few thousand inputs drawn from it. `make fuzz` draws millions.
@Suite struct FuzzingTests {
    static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    private static func inputs(of target: FuzzTarget) throws -> [[UInt8]] {
        let directory = corpus.appending(path: target.rawValue).path
        guard FileManager.default.fileExists(atPath: directory) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: directory).sorted().map {
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\($0)")))
        }
    }

    @Test(arguments: FuzzTarget.allCases) func corpus_isRead(target: FuzzTarget) throws {
        let inputs = try Self.inputs(of: target)
        #expect(!inputs.isEmpty, "Tests/FuzzingTests/Corpus/\(target.rawValue) has inputs")
        for input in inputs { target.run(input) }
    }

    @Test(arguments: FuzzTarget.allCases) func changedInputs_areRead(target: FuzzTarget) throws {
        var mutator = Mutator(target, corpus: try Self.inputs(of: target), seed: 1)
        for _ in 0..<(target == .peerSession ? 200 : 2_000) { target.run(mutator.next()) }
    }

    @Test func oneSeed_givesTheSameInputs() {
        var (one, other) = (Mutator(.keys, corpus: [], seed: 7), Mutator(.keys, corpus: [], seed: 7))
        var different = Mutator(.keys, corpus: [], seed: 8)
        let inputs = (0..<100).map { _ in one.next() }
        #expect(inputs == (0..<100).map { _ in other.next() })
        #expect(inputs != (0..<100).map { _ in different.next() })
    }
}
