import Foundation
import Testing

extension SystemTests {
    /// `{secret: NAME}` with real processes.
    @Suite struct Secrets {
        @Test func secrets_areResolvedOnTheWorker_andAreInNoJournalAndNoLog() async throws {
            try await ProcessHarness.with { harness in
                let secrets = "\(harness.directory)/secrets"
                try FileManager.default.createDirectory(atPath: secrets, withIntermediateDirectories: false)
                let word = "open-sesame-\(UUID().uuidString)"
                for (name, mode) in [("key", 0o600), ("shared", 0o644)] {
                    let path = try harness.write("secrets/\(name)", "\(word)\n")
                    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                }
                let coordinator = try await harness.startCoordinator("--log-level", "trace")
                let worker = harness.startWorker("--secrets", secrets, "--log-level", "trace")
                let count = "printf %s \"$KEY\" | wc -c | tr -cd 0-9"
                let graph = try harness.write(
                    "secrets.yaml",
                    """
                    group:
                      - {id: env, env: {KEY: {secret: key}}, run: '\(count)'}
                      - {id: stdin, stdin: {secret: key}, run: wc -c | tr -cd 0-9}
                      - {id: each, forEach: [1], env: {KEY: {secret: key}, N: '${item}'}, run: '\(count)'}
                      - {id: url, op: http, with: {url: {secret: key}}}
                      - {id: unknown, env: {KEY: {secret: other}}, run: 'true'}
                      - {id: shared, env: {KEY: {secret: shared}}, run: 'true'}

                    """)
                let finished = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(finished.status == 2, "\(finished)")
                let outcome = try JSON(parsing: finished.text)
                let length = "\(word.utf8.count)"
                #expect(outcome["value"].elements.prefix(3) == [.string(length), .string(length), .array([.string(length)])])
                let messages = outcome["errors"].elements.compactMap { $0["message"].string }
                #expect(outcome["errors"].elements.map { $0["path"].string } == ["url", "unknown", "shared"])
                #expect(messages.first == "`url`, which has a secret: it must begin with http:// or https:// and name a host")
                #expect(messages.dropFirst().first?.contains("the secret `other` is unknown") == true, "\(messages)")
                #expect(messages.last?.contains("the secret `shared` can be read by others than its owner") == true, "\(messages)")

                let shown = try await harness.aop("show", "last", "-o", "json").text
                for text in [shown, finished.text, coordinator.stderr, coordinator.stdout, worker.stderr, worker.stdout] {
                    #expect(!text.contains(word))
                }
                let data = URL(fileURLWithPath: "\(harness.directory)/data")
                let files = try #require(FileManager.default.enumerator(at: data, includingPropertiesForKeys: nil)).allObjects
                #expect(!files.isEmpty)
                for case let file as URL in files {
                    #expect((try? Data(contentsOf: file))?.firstRange(of: Data(word.utf8)) == nil, "\(file.path)")
                }
            }
        }

        @Test func run_takesThemToo_andAWorkerWithoutThemSaysSo() async throws {
            try await ProcessHarness.with { harness in
                let path = try harness.write("token", "t0k3n")
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
                let graph = try harness.write("run.yaml", "group: [{run: 'test $KEY = t0k3n', env: {KEY: {secret: token}}}]\n")
                let with = try await harness.aop("run", graph, "--secrets", harness.directory, "-o", "json")
                #expect(with.status == 0, "\(with)")
                let without = try await harness.aop("run", graph, "-o", "json")
                #expect(without.status == 2, "\(without)")
                #expect(without.text.contains("this worker has no secrets; start it with --secrets DIR"))
                let missing = try await harness.aop("run", graph, "--secrets", "\(harness.directory)/nowhere")
                #expect(missing.status != 0 && missing.stderr.contains("there is no such directory"), "\(missing)")
            }
        }
    }
}
