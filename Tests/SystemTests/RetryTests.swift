import Foundation
import Testing

extension SystemTests {
    /// Retry policies of graph files.
    @Suite struct Retrying {
        @Test func namedExitCodesAndSignals_areTriedAgain_othersAreFinal() async throws {
            try await ProcessHarness.with { harness in
                let directory = harness.directory
                let graph = try harness.write(
                    "retry.yaml",
                    """
                    group:
                      - id: code
                        run: 'echo x >> "\(directory)/code"; test $(wc -l < "\(directory)/code") -ge 3 || exit 75'
                        retry: {attempts: 5, backoff: {kind: constant, initial: 1ms}, on: [75]}
                      - id: killed
                        run: 'echo x >> "\(directory)/killed"; test $(wc -l < "\(directory)/killed") -ge 2 || kill -9 $$'
                        retry: {attempts: 5, backoff: {kind: fibonacci, initial: 1ms}, on: [SIGKILL]}
                      - id: slow
                        run: 'echo x >> "\(directory)/slow"; test $(wc -l < "\(directory)/slow") -ge 2 || exec sleep 600'
                        timeout: 300ms
                        retry: {attempts: 1, backoff: {kind: linear, initial: 1ms}, on: [timeout]}
                      - id: other
                        run: 'echo x >> "\(directory)/other"; exit 1'
                        retry: {attempts: 5, backoff: {initial: 1ms}, on: [75, timeout, SIGKILL]}

                    """)
                let finished = try await harness.aop("run", graph, "-o", "json")
                #expect(finished.status == 2, "\(finished)")
                let result = try JSON(parsing: finished.text)
                #expect(result["counts"]["succeeded"] == 3, "\(finished)")
                #expect(result["errors"].elements.count == 1 && result["errors"][0]["path"] == "other")
                #expect(harness.lines(of: "code").count == 3)
                #expect(harness.lines(of: "other").count == 1)
            }
        }

        @Test func show_saysWhenTheNextAttemptComes_andWhyTheLastFailed() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let graph = try harness.write(
                    "wait.yaml",
                    "group:\n  - {id: a, run: exit 9, retry: {attempts: 1, backoff: {kind: constant, initial: 1h, max: 2h, jitter: 0}}}\n")
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let operation: JSON = try await eventually("it waits for its next attempt") {
                    let shown = try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)["operations"][0]
                    return shown["state"] == "retrying" ? shown : nil
                }
                #expect(operation["lastError"]["exitCode"] == 9)
                #expect(operation["retryAt"].string != nil)
                let text = try await harness.aop("show", id).text
                #expect(text.contains("next attempt in 59 min") && text.contains(": exited with 9 on "), "\(text)")
            }
        }
    }
}
