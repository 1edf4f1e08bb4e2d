import Foundation
import Scheduling
import Testing

/// The same seed gives the same journal and the same messages, whatever the process's hash seed.
@Suite struct DeterminismTests {
    /// Writes a digest for each seed to the file named by AOP_DETERMINISM_FILE; `scripts/check-determinism.sh` runs this in
    /// two processes, whose hash seeds differ, and compares.
    @Test func journalsOfSeeds_haveTheSameDigestInEveryProcess() throws {
        let digests = (0..<60).map { "\($0) \(String(Self.digest(seed: $0), radix: 16))" }
        #expect(digests == (0..<60).map { "\($0) \(String(Self.digest(seed: $0), radix: 16))" })
        if let path = ProcessInfo.processInfo.environment["AOP_DETERMINISM_FILE"] {
            try digests.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    /// FNV-1a over the journal and the messages of a run with crashes, losses and cancellations.
    private static func digest(seed: Int) -> UInt64 {
        var random = SeededRandom(seed: UInt64(seed) + 1_000)
        var cluster = FakeCluster()
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        for number in 0..<3 {
            let graph = RandomGraph.make(&random, keys: seed % 4)
            // Some of those with keys could wait for ever, and are refused.
            if graph.faults().isEmpty { cluster.submit(graph, key: "k\(number)") }
        }
        for executor in 0..<4 { cluster.attach(executor, slots: 1 + random.below(3)) }
        for round in 0..<80 {
            switch random.below(8) {
            case 0:
                cluster.die(round % 4)
                cluster.attach(100 + round, slots: 2)
            case 1: cluster.advance(Int64(random.below(4_000)))
            case 2:
                let paths = cluster.operations().map(\.path)
                if let path = random.pick(paths) { _ = cluster.ask(.cancel(submission: "last", path: path, reason: "", now: false)) }
            default:
                guard let path = random.pick(cluster.heldPaths), let (_, unit) = cluster.find(path, on: nil) else { continue }
                let elements = AttemptOutcome.elements((0..<3).map { Array("\($0)".utf8) })
                cluster.end(path, unit.kind == .decide ? elements : random.below(4) == 0 ? failure("no") : .success(text(path)))
            }
            for send in cluster.sends { add("\(send.to.rawValue) \(send.after.rawValue)".utf8) }
        }
        for fact in cluster.journal { add(FactCodec.encode(fact)) }
        add(cluster.dispatched.joined(separator: "\n").utf8)
        return hash
    }
}
