import Foundation
import Testing

extension SystemTests.Chaos {
    /// What the coordinator may grow by for work and readers: what it keeps of operations, and a full outbox.
    private static func growthBytesMax(operations: Int) -> Int { 128 << 20 + operations * 4096 }
    private static let lineBytes = 100
    private static let lines = 8_000

    /// They are frozen, or leave what they are sent in their sockets, while everything happens; afterwards they read it.
    @Test func readersThatDoNotRead_holdNothingUp_fillNoMemory_andMissNothing() async throws {
        let operations = ChaosScale.current.readOperations
        try await ProcessHarness.with { harness in
            let coordinator = try await harness.startCoordinator("--snapshot-bytes", "4000000")
            _ = harness.startWorker("--slots", "2")
            _ = try await harness.waitForExecutors(1)
            let id = try await Self.submitTalk(harness, operations: operations)
            try await eventually("the first one runs") { try await harness.aop("show", id).text.contains("running") }

            let events = harness.startAOP("events", "-f", "-o", "jsonl")
            let watch = harness.startAOP("watch", id)
            let logs = harness.startAOP("logs", "-f", "\(id)/talk")
            try await eventually("somebody watches", last: { watch.stderr }) { watch.stderr.contains("talk") }
            try await eventually("somebody reads the log", last: { logs.stderr }) { logs.stdout.contains("ready") }
            let file = try harness.write("one.yaml", "name: one\ngroup: [{op: noop}]\n")
            try await eventually("somebody hears of events", last: { events.stderr }) {
                _ = try await harness.aop("submit", file, "--wait")
                return events.stdout.contains("succeeded")
            }
            let http = try RawHTTP(Self.httpAddress(of: coordinator))
            let streams = ["/api/v1/events", "/api/v1/submissions/\(id)/events", "/api/v1/submissions/\(id)/logs/events"]
            let connections = try streams.map { try http.open($0, receiveBufferBytes: 4096) }
            let process = try await coordinator.pid()
            let memory = try ProcessTable.residentBytes(of: process)
            let frozen = [events, watch, logs]
            for reader in frozen { try await reader.send(SIGSTOP) }

            _ = try harness.write("go", "")
            let waited = try await harness.startAOP("wait", id).finish(within: ChaosScale.current.patience)
            #expect(waited.status == 0, "\(waited)")
            let grown = try ProcessTable.residentBytes(of: process) - memory
            #expect(grown <= Self.growthBytesMax(operations: operations), "it has \(grown) bytes more")

            for reader in frozen { try await reader.send(SIGCONT) }
            let watched = try await watch.finish(within: ChaosScale.current.patience)
            #expect(watched.status == 0, "\(watched)")
            let read = try await logs.finish()
            #expect(read.text.count { $0 == "x" } == Self.lines * (Self.lineBytes - 1), "\(read.stderr)")
            // Each end once.
            let ends = "\"id\":\"\(id)\""
            try await eventually("the end of the submission is told", within: ChaosScale.current.patience, last: { events.stderr }) {
                Self.ends(in: events.stdout, of: ends).contains("")
            }
            let told = Self.ends(in: events.stdout, of: ends)
            #expect(told.count { $0.hasPrefix("rest/") } == operations && Set(told).count == told.count, "\(told.count) ends")

            #expect(try connections[0].read { $0.contains(id) && $0.contains("\"state\":\"succeeded\"") })
            #expect(try connections[1].read { $0.contains("event: end") })
            var letters = 0
            #expect(
                try connections[2].read { text in
                    letters = text.count { $0 == "x" }
                    return text.contains("event: end")
                })
            #expect(letters >= Self.lines * (Self.lineBytes - 1))
            for connection in connections { connection.close() }
            try await events.send(SIGTERM)
            _ = try await events.finish()
        }
    }

    /// One that waits for a file, and then writes a lot; and so many others that follow it.
    private static func submitTalk(_ harness: ProcessHarness, operations: Int) async throws -> String {
        let talk = """
            name: talk
            ordered:
              - id: talk
                run: |
                  echo ready
                  until [ -e '\(harness.directory)/go' ]; do sleep 0.05; done
                  head -c \(lines * (lineBytes - 1)) /dev/zero | tr '\\0' x | fold -w \(lineBytes - 1)
              - id: rest
                group:

            """
        let graph = try harness.write("talk.yaml", talk + String(repeating: "      - {op: noop}\n", count: operations))
        return try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
    }

    private static func httpAddress(of coordinator: RunningProcess) throws -> String {
        let match = coordinator.stderr.firstMatch(of: #/http:\/\/([0-9.]+:[0-9]+)/#)
        return String(try #require(match, "\(coordinator.stderr)").1)
    }

    /// Paths of what has ended; of the submission itself it is empty.
    private static func ends(in text: String, of submission: String) -> [String] {
        text[..<(text.lastIndex(of: "\n") ?? text.startIndex)].split(separator: "\n")
            .filter { $0.contains(submission) && $0.contains("\"event\":\"succeeded\"") }
            .map { line in line.firstMatch(of: #/"path":"([^"]*)"/#).map { String($0.1) } ?? "" }
    }
}
