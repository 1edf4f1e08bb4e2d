import Foundation
import Testing
import Wire

@testable import Worker

/// A supervisor and its executors as real processes against a small coordinator.
@Suite(.serialized, .timeLimit(.minutes(3))) struct WorkerProcessTests {
    let coordinator: FakeCoordinator
    let worker: WorkerProcess
    let directory: String

    init() throws {
        coordinator = try FakeCoordinator()
        directory = try TemporaryDirectory.make()
        worker = try WorkerProcess(
            ["--connect", coordinator.endpoint.description, "--slots", "2", "--label", "zone=a", "--grace", "3s"],
            environment: ["XDG_STATE_HOME": directory, "TMPDIR": directory])
    }

    private func end() {
        worker.end()
        // Executors may be removing their part of it at this moment; what is gone already is no failure.
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A sleep that no other test runs.
    private func sleep(_ number: Int) -> String { "sleep 4\(getpid())\(number)" }

    private func waitFor(_ what: String, _ condition: @escaping @Sendable () -> Bool) async throws {
        let holds = try await eventually(condition)
        #expect(holds, "\(what)")
    }

    @Test func hello_saysWhatItCan() async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        let hello = executor.hello.executor
        #expect(hello.slots == 2)
        #expect(hello.labels == ["zone=a"])
        #expect(
            hello.operations.map(\.name) == [
                "CountWords", "ReadText", "URLSessionDataTaskOperation", "URLSessionDownloadTaskOperation",
                "URLSessionUploadTaskOperation", "delay", "download", "http", "jsonDecode", "jsonPath", "noop", "readFile", "shell",
                "upload",
                "writeFile",
            ])
        #expect(hello.operations.first?.receives == true)
        // Not by the name of the link it was started through.
        let name = try String(contentsOfFile: "/proc/\(executor.hello.pid)/comm", encoding: .utf8)
        #expect(name != "exe\n")
        try await waitFor("supervisor") { [coordinator] in !coordinator.supervisors.isEmpty }
        #expect(coordinator.supervisors.first?.hello.incarnation == hello.supervisorIncarnation)
    }

    @Test func unit_isRun_reported_andRepeatedUntilAcknowledged() async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        coordinator.dispatch([.shell(1, "echo hello; echo note >&2")], to: executor)
        let end = try await coordinator.end(of: 1)
        #expect(end.success.inline == Data("hello".utf8))
        #expect(end.success.encoding == .text)
        let output = coordinator.output
        #expect(output.filter { $0.stream == .stdout }.map(\.bytes) == [Data("hello\n".utf8)])
        #expect(output.filter { $0.stream == .stderr }.map(\.bytes) == [Data("note\n".utf8)])
        // The same unit again: offered again, not run again.
        coordinator.dispatch([.shell(1, "echo hello; echo note >&2")], to: executor)
        try await waitFor("offered again") { [coordinator] in
            coordinator.reports.count { if case .ended? = $0.body { $0.unit == 1 } else { false } } == 2
        }
        #expect(coordinator.reports.count { if case .started? = $0.body { true } else { false } } == 1)
        coordinator.send(
            to: executor,
            .with {
                $0.acknowledgement = .with {
                    $0.units = [
                        .with {
                            $0.unit = 1; $0.attempt = 1 << 32 | 1
                        }
                    ]
                }
            })
        // Forgotten now: told to stop it, it only says that it has ended.
        coordinator.send(
            to: executor,
            .with {
                $0.stop = .with {
                    $0.units = [
                        .with {
                            $0.unit = 1; $0.attempt = 1 << 32 | 1; $0.reason = .cancelled
                        }
                    ]
                }
            })
        try await waitFor("answered as stopped") { [coordinator] in
            coordinator.reports.contains {
                if case .ended(let end)? = $0.body, case .stopped? = end.outcome { $0.unit == 1 } else { false }
            }
        }
    }

    @Test func whatRunsUnderAKey_isEndedWhenTheCoordinatorIsNotHeard_andNothingElse() async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        let (fenced, free) = (sleep(61), sleep(62))
        coordinator.dispatch(
            [
                // Does not end when it is asked to, and might take its time.
                .shell(1, "trap '' TERM; \(fenced); \(fenced)") {
                    $0.graceMilliseconds = 600_000
                    $0.fences = [
                        .with {
                            $0.key = "db"; $0.token = 1
                        }
                    ]
                },
                .shell(2, free),
            ], to: executor)
        try await waitFor("both run") { !processes(with: fenced).isEmpty && !processes(with: free).isEmpty }
        coordinator.fallSilent()
        try await waitFor("ended") { processes(with: fenced).isEmpty }
        #expect(!processes(with: free).isEmpty)
        coordinator.speakAgain()
        let again = try await coordinator.executor(1)
        #expect(again.hello.incarnation == executor.hello.incarnation)
        #expect(again.hello.executor.units.map(\.unit) == [2])
        #expect(coordinator.reports.allSatisfy { if case .ended? = $0.body { false } else { true } })
    }

    /// The coordinator is another release, or the rights of the key were changed: nothing that runs is lost by that.
    @Test(arguments: [WireRefusal.Code.version, .notPermitted])
    func refused_afterItWasAttached_goesOnWithWhatRuns_andTriesOn(code: WireRefusal.Code) async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        try await waitFor("supervisor") { [coordinator] in !coordinator.supervisors.isEmpty }
        let gate = directory + "/gate"
        coordinator.dispatch([.shell(1, "echo up; until [ -e '\(gate)' ]; do sleep 0.05; done; echo down")], to: executor)
        try await waitFor("running") { [coordinator] in coordinator.output.contains { $0.unit == 1 } }
        coordinator.refuse(code)
        coordinator.forgetPeers()
        try await waitFor("refused again and again") { [coordinator] in coordinator.refusedCount >= 6 }
        #expect(worker.exitStatus() == nil)
        coordinator.refuse(nil)
        let again = try await coordinator.executor()
        #expect(again.hello.incarnation == executor.hello.incarnation)
        #expect(again.hello.executor.units.map(\.unit) == [1])
        #expect(FileManager.default.createFile(atPath: gate, contents: nil))
        #expect(try await coordinator.end(of: 1).success.inline == Data("up\ndown".utf8))
    }

    @Test(arguments: [(WireRefusal.Code.version, Int32(1)), (.notPermitted, 77)])
    func refused_whenItNeverWasAttached_ends(code: WireRefusal.Code, exitCode: Int32) async throws {
        defer { end() }
        let strict = try FakeCoordinator()
        strict.refuse(code)
        let worker = try WorkerProcess(
            ["--connect", strict.endpoint.description], environment: ["XDG_STATE_HOME": directory, "TMPDIR": directory])
        defer { worker.end() }
        try await waitFor("exited") { worker.exitStatus() != nil }
        #expect(worker.exitStatus().map { $0 >> 8 } == exitCode)
    }

    @Test func ownOperations_forEach_andTemplates_work() async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        coordinator.dispatch(
            [
                .shell(1, "") {
                    $0.operation = "CountWords"
                    $0.parameters = Data("{}".utf8)
                    $0.inputs = [
                        .with {
                            $0.value = .with {
                                $0.encoding = .text; $0.inline = Data("a b  c".utf8)
                            }
                        }
                    ]
                },
                .shell(2, "") {
                    $0.kind = .decide
                    $0.inputs = [
                        .with {
                            $0.value = .with {
                                $0.encoding = .json; $0.inline = Data("[1.50,\"x\"]".utf8)
                            }
                        }
                    ]
                },
                .shell(3, "") {
                    $0.parameters = Data(#"{"exec":["echo","${item}","$$"]}"#.utf8)
                    $0.templated = true
                    $0.bindings = [
                        .with {
                            $0.name = "item"; $0.element = Data("\"e\"".utf8)
                        }
                    ]
                },
                .shell(4, "") { $0.operation = "nope" },
            ], to: executor)
        #expect(try await coordinator.end(of: 1).success.inline == Data("3".utf8))
        #expect(try await coordinator.end(of: 2).elements.elements == [Data("1.50".utf8), Data("\"x\"".utf8)])
        #expect(try await coordinator.end(of: 3).success.inline == Data("e $".utf8))
        #expect(try await coordinator.end(of: 4).failure.errors.first?.code == .parameters)
    }

    @Test func largeValues_arePulledBothWays() async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        let bytes = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let reference = WireBlobReference(digest: BlobDigest(hashing: bytes), size: UInt64(bytes.count))
        coordinator.dispatch(
            [
                .shell(1, "") {
                    $0.parameters = Data(#"{"exec":["cat"],"output":"bytes"}"#.utf8)
                    $0.inputs = [
                        .with {
                            $0.value = .with {
                                $0.encoding = .bytes; $0.blob = reference
                            }
                        }
                    ]
                }
            ], to: executor)
        var answered = 0
        while true {
            let soFar = answered
            if coordinator.reports.contains(where: { if case .ended? = $0.body { true } else { false } }) { break }
            try await waitFor("request or end") { [coordinator] in
                coordinator.blobRequests.count > soFar
                    || !coordinator.reports.filter { if case .ended? = $0.body { true } else { false } }.isEmpty
            }
            for request in coordinator.blobRequests.dropFirst(answered) {
                let range = try #require(request.range(inValueOf: bytes.count))
                coordinator.send(
                    to: executor, attachment: Buffer(bytes.subdata(in: range)),
                    .with {
                        $0.blobChunk = .with {
                            $0.digest = request.digest; $0.offset = request.offset; $0.size = UInt64(bytes.count)
                        }
                    })
                answered += 1
            }
        }
        let end = try await coordinator.end(of: 1)
        #expect(end.success.blob == reference)
        coordinator.send(
            to: executor,
            .with {
                $0.blobRequest = .with {
                    $0.digest = reference.digest; $0.offset = 600_000; $0.length = 200_000
                }
            })
        try await waitFor("chunk") { [coordinator] in !coordinator.chunks.isEmpty }
        let (chunk, part) = try #require(coordinator.chunks.first)
        #expect(chunk.size == 700_000)
        #expect(part?.data == bytes.subdata(in: 600_000..<700_000))
    }

    @Test func timeout_isReportedWhenTheCommandIsGone() async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        coordinator.dispatch([.shell(1, sleep(1)) { $0.timeoutMilliseconds = 300 }], to: executor)
        let failure = try await coordinator.end(of: 1).failure.errors.first
        #expect(failure?.code == .timeout)
        #expect(failure?.message == "timed out after 0.3 s")
        #expect(processes(with: sleep(1)).isEmpty)
    }

    @Test func cancelNow_endsACommandThatIgnoresSIGTERM() async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        coordinator.dispatch([.shell(1, "trap '' TERM; \(sleep(2)) & wait") { $0.graceMilliseconds = 60_000 }], to: executor)
        try await waitFor("running") { [self] in !processes(with: sleep(2)).isEmpty }
        coordinator.send(
            to: executor,
            .with {
                $0.stop = .with {
                    $0.units = [
                        .with {
                            $0.unit = 1; $0.attempt = 1 << 32 | 1; $0.reason = .cancelled; $0.now = true
                        }
                    ]
                }
            })
        guard case .stopped? = try await coordinator.end(of: 1).outcome else { return #expect(Bool(false)) }
        #expect(processes(with: sleep(2)).isEmpty)
    }

    @Test func killedExecutor_leavesNothing_isProvenDead_andReplaced() async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        coordinator.dispatch([.shell(1, "setsid \(sleep(3)) & \(sleep(3))")], to: executor)
        try await waitFor("running") { [self] in processes(with: sleep(3)).count >= 2 }
        kill(pid_t(executor.hello.pid), SIGKILL)
        let incarnation = executor.hello.incarnation
        try await waitFor("proof of death") { [coordinator] in
            coordinator.ended.contains { $0.executorIncarnation == incarnation }
        }
        #expect(processes(with: sleep(3)).isEmpty)
        #expect(coordinator.ended.first?.cause == .crashed)
        #expect(coordinator.ended.first?.text == "signal 9 (SIGKILL)")
        let next = try await coordinator.executor(1)
        #expect(next.hello.incarnation != incarnation)
        coordinator.dispatch([.shell(2, "echo again")], to: next)
        #expect(try await coordinator.end(of: 2).success.inline == Data("again".utf8))
    }

    @Test func killedSupervisor_takesExecutorsAndCommandsWithIt() async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        coordinator.dispatch([.shell(1, "trap '' TERM HUP; setsid \(sleep(4)) & \(sleep(4))")], to: executor)
        try await waitFor("running") { [self] in processes(with: sleep(4)).count >= 2 }
        worker.signal(SIGKILL)
        let pid = pid_t(executor.hello.pid)
        try await waitFor("nothing left") { [self] in
            processes(with: sleep(4)).isEmpty && ProcessTable.Entry(id: pid)?.isZombie != false
        }
    }

    @Test func terminated_drains_thenExits() async throws {
        defer { end() }
        let executor = try await coordinator.executor()
        let gate = directory + "/gate"
        coordinator.dispatch(
            [
                .shell(1, "echo up; until [ -e '\(gate)' ]; do sleep 0.05; done; echo down"), .shell(2, sleep(5)),
                .shell(3, "true"),
            ], to: executor)
        try await waitFor("running") { [coordinator] in coordinator.output.contains { $0.unit == 1 } }
        worker.signal(SIGTERM)
        try await waitFor("given back") { [coordinator] in
            coordinator.reports.contains { if case .released? = $0.body { $0.unit == 3 } else { false } }
        }
        #expect(FileManager.default.createFile(atPath: gate, contents: nil))
        #expect(try await coordinator.end(of: 1).success.inline == Data("up\ndown".utf8))
        worker.signal(SIGTERM)
        try await waitFor("exited") { [worker] in worker.exitStatus() != nil }
        #expect(worker.exitStatus() == 0)
        #expect(processes(with: sleep(5)).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasPrefix("aop-worker") }.isEmpty)
    }
}
