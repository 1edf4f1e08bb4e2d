import AOperation
import Foundation
import Testing
import Wire

@testable import Worker

@Suite(.timeLimit(.minutes(2))) struct ShellOperationTests {
    let runner: CommandRunner

    init() throws { runner = try CommandRunner() }

    @Test func text_losesOneTrailingNewline() async {
        #expect(await runner.run(.init(run: "printf 'a\\nb\\n\\n'")).text == "a\nb\n")
    }

    @Test func lines_haveNoEmptyLastOne() async {
        #expect(await runner.run(.init(run: "printf 'a\\n\"b\\n\\nc\\n'", output: .lines)).text == #"["a","\"b","","c"]"#)
        #expect(await runner.run(.init(run: "true", output: .lines)).text == "[]")
    }

    @Test func json_isCheckedAndTrimmed() async {
        #expect(await runner.run(.init(run: "echo ' {\"a\": 1.10} '", output: .json)).text == #"{"a": 1.10}"#)
        let outcome = await runner.run(.init(run: "echo 'a: 1'", output: .json))
        #expect(outcome.fault?.code == .output)
        #expect(outcome.fault?.message.hasPrefix("stdout is not JSON: ") == true)
        #expect(await runner.run(.init(run: "true", output: .json)).fault?.message.contains("it is empty") == true)
    }

    @Test func bytes_areUntouched_andNoneIsVoid() async {
        guard case .success(let value) = await runner.run(.init(run: "printf '\\377\\n'", output: .bytes)) else {
            return #expect(Bool(false))
        }
        #expect(value == .bytes(Data([0xff, 0x0a])))
        guard case .success(.void) = await runner.run(.init(run: "echo x", output: ShellParameters.OutputForm.none)) else {
            return #expect(Bool(false))
        }
    }

    @Test func invalidUTF8_failsAndSaysWhatToDo() async {
        #expect(await runner.run(.init(run: "printf '\\377'")).fault?.message == "stdout is not UTF-8 text; use `output: bytes`")
    }

    @Test func exitCode_isAFailureWithTheEndOfStderr() async {
        let fault = await runner.run(.init(run: "echo first >&2; echo oops >&2; exit 7")).fault
        #expect(fault?.message == "exited with 7 on testhost: oops")
        #expect(fault?.code == .exit)
        #expect(fault?.exitCode == 7)
        #expect(fault?.stderr == "first\noops\n")
    }

    @Test func stderrTail_isBounded() async {
        let fault = await runner.run(.init(run: "head -c 100000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1")).fault
        #expect(fault?.stderr?.utf8.count == Limits.stderrTailBytes)
        #expect(fault?.stderr?.hasSuffix("xend\n") == true)
    }

    @Test func signal_isNamed() async {
        let fault = await runner.run(.init(run: "kill -9 $$")).fault
        #expect(fault?.message == "ended by signal 9 (SIGKILL) on testhost")
        #expect(fault?.signal == 9)
        #expect(fault?.code == .signal)
    }

    @Test func missingProgram_isASpawnFailure() async {
        let fault = await runner.run(.init(exec: ["no-such-program-xyz"])).fault
        #expect(fault?.code == .spawn)
        #expect(fault?.message.hasPrefix("cannot run no-such-program-xyz on testhost: no such executable in PATH (") == true)
    }

    @Test func missingWorkingDirectory_isNamed() async {
        let fault = await runner.run(.init(run: "true", workingDirectory: "/no/such/place")).fault
        #expect(fault?.code == .spawn)
        #expect(fault?.message.contains("working directory /no/such/place") == true)
    }

    @Test func emptyExec_andBoth_areRefused() async {
        #expect(await runner.run(.init(exec: [])).fault?.code == .parameters)
        #expect(await runner.run(.init(run: "a", exec: ["a"])).fault?.code == .parameters)
        #expect(await runner.run(.init()).fault?.message == "a command needs exactly one of `run` and `exec`")
    }

    @Test(arguments: [#""q\u0000z""#, #"{"d":"q\u0000z"}"#])
    func nul_isRefused_inCommandLines_inDirectories_andInVariables_whichAreNamed(element: String) async {
        let bindings = Bindings([.init(name: "it", index: 0, element: Array(element.utf8))])
        let line = await runner.run(.init(exec: ["echo", "q\0z"])).fault
        #expect(line?.code == .parameters && line?.message == "a command line cannot hold a NUL character")
        for directory in ["/\0", "/tmp\0/x", "a\0"] {
            let fault = await runner.run(.init(run: "true", workingDirectory: directory)).fault
            #expect(fault?.code == .parameters && fault?.message == "the working directory cannot hold a NUL character")
        }
        let bound = await runner.run(.init(run: "true"), bindings: bindings).fault
        let name = element.hasPrefix("{") ? "it_d" : "it"
        #expect(bound?.code == .parameters)
        #expect(bound?.message == "the environment variable `\(name)` cannot hold a NUL character")
        for parameters: ShellParameters in [
            .init(run: "true", environment: ["B": "b", "A": "\0"]), .init(exec: ["true"], environment: ["C": "\0", "A": "\0"]),
            .init(run: "true", variables: ["A": "a\0"]),
        ] {
            let fault = await runner.run(parameters).fault
            #expect(fault?.code == .parameters && fault?.message == "the environment variable `A` cannot hold a NUL character")
        }
        // Not of what the command is given as another one, or not at all.
        #expect(await runner.run(.init(run: "echo $it", environment: ["it": "own", "it_d": "own"]), bindings: bindings).text == "own")
        #expect(await runner.run(.init(exec: ["echo", "a"]), bindings: bindings).text == "a")
    }

    @Test func received_isStdin_andTenMegabytesPassWithoutDeadlock() async {
        #expect(await runner.run(.init(exec: ["cat"], stdin: "unused"), input: .text("hällo")).text == "hällo")
        #expect(await runner.run(.init(exec: ["cat"], stdin: "given")).text == "given")
        let big = Data((0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        guard case .success(let value) = await runner.run(.init(exec: ["cat"], output: .bytes), input: .bytes(big)) else {
            return #expect(Bool(false))
        }
        #expect(value.bytes == big)
    }

    @Test func commandThatDoesNotReadItsStdin_isFine() async {
        #expect(await runner.run(.init(run: "exec 0<&-; echo ok"), input: .bytes(Data(count: 5_000_000))).text == "ok")
        #expect(await runner.run(.init(run: "head -c 3"), input: .text("abc" + String(repeating: "x", count: 1_000_000))).text == "abc")
    }

    @Test func withoutInput_stdinIsEmpty() async {
        #expect(await runner.run(.init(exec: ["cat"])).text == "")
    }

    @Test func outputBeyondMaxOutput_fails_andTheCommandIsKilled() async throws {
        let outcome = await runner.run(.init(run: "yes 0123456789abcdef", maxOutput: 1_000_000))
        let message = try #require(outcome.fault?.message)
        #expect(message.hasPrefix("output is larger than maxOutput (976.6 KiB): 1"))
        #expect(message.hasSuffix(" bytes; raise `maxOutput`"))
        #expect(outcome.fault?.code == .limit)
    }

    @Test func environment_isClean() async {
        setenv("WORKER_TEST_SECRET", "s", 1)
        let bindings = Bindings([.init(name: "item", index: 3, element: Array(#"{"k":"v"}"#.utf8))])
        let text =
            await runner.run(
                .init(run: "env", environment: ["A": "node", "B": "b"], variables: ["A": "var", "C": "c"]), bindings: bindings,
                path: "root/a"
            ).text ?? ""
        let lines = Set(text.split(separator: "\n").map(String.init))
        for expected in [
            "A=node", "B=b", "C=c", #"item={"k":"v"}"#, "item_k=v", "index=3", "AOP_SUBMISSION=s1", "AOP_PATH=root/a", "AOP_ATTEMPT=2",
            "AOP_WORKER=testhost/0", "AOP_IDEMPOTENCY_KEY=s1/root/a",
        ] { #expect(lines.contains(expected), "\(expected)") }
        #expect(!text.contains("WORKER_TEST_SECRET"))
        let passing = try? CommandRunner(passedNames: ["WORKER_TEST_SECRET"])
        #expect(await passing?.run(.init(run: "echo $WORKER_TEST_SECRET")).text == "s")
    }

    @Test func workingDirectory_isFreshAndRemoved() async throws {
        let path = try #require(await runner.run(.init(run: "pwd; mkdir -p d/e; echo x > d/e/f; ls -A | wc -l")).text)
        let lines = path.split(separator: "\n")
        #expect(lines[0].hasPrefix(runner.host.temporaryDirectory))
        #expect(!FileManager.default.fileExists(atPath: String(lines[0])))
        #expect(await runner.run(.init(run: "pwd", workingDirectory: "/usr")).text == "/usr")
    }

    @Test func output_isStreamed() async {
        _ = await runner.run(.init(run: "echo out; echo err >&2"))
        #expect(runner.streamed(.stdout) == "out\n")
        #expect(runner.streamed(.stderr) == "err\n")
    }

    /// `N` stands for a number of seconds that nobody else sleeps.
    @Test(arguments: [
        "sleep N &", "(setsid sleep N &) ; true", "timeout 1000 sleep N &", "(trap '' TERM HUP; sleep N) >/dev/null 2>&1 </dev/null &",
    ])
    func backgroundChildren_neitherHangNorSurvive(_ template: String) async throws {
        let sleep = "sleep 3\(Self.seed)\(template.utf8.count)"
        #expect(await runner.run(.init(run: "\(template.replacingOccurrences(of: "sleep N", with: sleep))\necho done")).text == "done")
        // One that left the session goes to the next subreaper, which an executor is and this process is not.
        if template.contains("setsid") {
            for process in processes(with: sleep) { kill(process, SIGKILL) }
        } else {
            #expect(processes(with: sleep).isEmpty)
        }
    }

    static let seed = String(getpid())

    private func waitUntilUp() async throws {
        let runner = runner
        let isUp = try await eventually { runner.streamed(UnitContext.Stream.stdout) == "up\n" }
        #expect(isUp)
    }

    @Test func cancel_decidesAtOnce_andTheBodyEndsWithTheGroup() async throws {
        let operation = runner.make(.init(run: "trap 'sleep 0.2; exit 0' TERM; echo up; while :; do sleep 0.05; done"))
        async let ended = runner.end(of: operation)
        try await waitUntilUp()
        operation.cancel()
        #expect(operation.isFinished)
        #expect(await ended.isCancelled)
    }

    @Test func commandThatIgnoresSIGTERM_isKilledAfterItsGrace() async throws {
        let operation = runner.make(.init(run: "trap '' TERM; echo up; while :; do sleep 0.05; done"), grace: 300)
        async let ended = runner.end(of: operation)
        try await waitUntilUp()
        let start = ContinuousClock.now
        operation.cancel()
        #expect(await ended.isCancelled)
        #expect(ContinuousClock.now - start >= .milliseconds(290))
    }

    /// A shell that waits for a command ends at once when it is told to.
    @Test func whatTheShellWaitedFor_hasTheGraceToo() async throws {
        let child = "trap 'sleep 0.3; echo cleaned > $AOP_TEST_MARK; exit 0' TERM; echo up; while :; do sleep 0.05; done"
        let mark = try TemporaryDirectory.make() + "/mark"
        defer { try? FileManager.default.removeItem(atPath: URL(fileURLWithPath: mark).deletingLastPathComponent().path) }
        let operation = runner.make(
            .init(run: "sh -c \"\(child.replacingOccurrences(of: "$AOP_TEST_MARK", with: mark))\"; echo after"), grace: 30_000)
        async let ended = runner.end(of: operation)
        try await waitUntilUp()
        operation.cancel()
        #expect(await ended.isCancelled)
        #expect(FileManager.default.fileExists(atPath: mark))
    }

    @Test func whatTheShellWaitedFor_isKilledAfterTheGrace_orAtOnce() async throws {
        for isAtOnce in [false, true] {
            let operation = runner.make(
                .init(run: "sh -c \"trap '' TERM; echo up; while :; do sleep 0.05; done\"; echo after"), grace: isAtOnce ? 60_000 : 200)
            async let ended = runner.end(of: operation)
            try await waitUntilUp()
            operation.cancel()
            if isAtOnce { operation.kill() }
            #expect(await ended.isCancelled)
        }
    }

    @Test func kill_endsItAtOnce() async throws {
        let operation = runner.make(.init(run: "trap '' TERM; echo up; while :; do sleep 0.05; done"), grace: 60_000)
        async let ended = runner.end(of: operation)
        try await waitUntilUp()
        operation.cancel()
        operation.kill()
        #expect(await ended.isCancelled)
    }

    @Test func manyCommandsAtOnce_allEnd() async {
        await withTaskGroup(of: String?.self) { group in
            for number in 0..<100 { group.addTask { [runner] in await runner.run(.init(run: "echo \(number)")).text } }
            var seen: Set<String?> = []
            for await text in group { seen.insert(text) }
            #expect(seen.count == 100)
        }
    }
}
