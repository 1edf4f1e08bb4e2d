import Cluster
import Foundation
import Shapes
import Testing
import Wire

@testable import aop

@Suite struct OutputTests {
    /// Writes through a pipe and gives what came out at its other end.
    private func written(_ value: JSONValue) async throws -> String {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        var writer = JSONWriter(FileOutput(ends[1]))
        try await writer.writeLine(value)
        close(ends[1])
        defer { close(ends[0]) }
        return String(decoding: try FileHandle(fileDescriptor: ends[0]).readToEnd() ?? Data(), as: UTF8.self)
    }

    @Test func json_keepsOrder_andEscapes() async throws {
        let text = try await written(
            .shape([
                ("b", .string("\"\\\n\u{1}é")), ("a", .number(1.5)), ("whole", .number(2)), ("none", .null),
                ("list", .array([.bool(true), .integer(-3)])),
            ]))
        #expect(text == #"{"schema":1,"b":"\"\\\n\u0001é","a":1.5,"whole":2,"none":null,"list":[true,-3]}"# + "\n")
    }

    @Test func values_areWrittenByTheirEncoding() async throws {
        func value(_ encoding: WireValueEncoding, _ text: String) -> JSONValue {
            .value(
                .with {
                    $0.encoding = encoding
                    $0.inline = Data(text.utf8)
                })
        }
        let text = try await written(
            .array([value(.text, "a\"b"), value(.json, "{\n\"x\": 1}"), value(.bytes, "hi"), value(.void, "")]))
        #expect(text == #"["a\"b",{ "x": 1},"aGk=",null]"# + "\n")
    }

    @Test(arguments: [1, 2, 3, 4, 5, 7, 1000]) func base64_ofParts_isThatOfTheWhole(_ size: Int) {
        let whole = Data((0..<2000).map { UInt8($0 % 251) })
        var encoder = Base64Stream()
        var text = Data()
        var rest = whole[...]
        while !rest.isEmpty {
            encoder.append(Data(rest.prefix(size)), to: &text)
            rest = rest.dropFirst(size)
        }
        encoder.finish(to: &text)
        #expect(String(decoding: text, as: UTF8.self) == whole.base64EncodedString())
    }

    @Test(
        arguments: [
            ("90s", 90_000), ("1h30m", 5_400_000), ("500ms", 500), ("2", 2000), ("1.5s", 1500), ("1d", 86_400_000),
        ] as [(String, Int64)]) func durations_areRead(_ text: String, _ milliseconds: Int64)
    {
        #expect(DurationArgument(argument: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: ["", "soon", "5x", "s", "-1", "1h30"]) func badDurations_areRefused(_ text: String) {
        #expect(DurationArgument(argument: text) == nil)
    }

    @Test func durationsAndTimes_readWell() {
        #expect(TimeText.duration(milliseconds: 1234) == "1.2 s")
        #expect(TimeText.duration(milliseconds: 185_000) == "3 min 05 s")
        #expect(TimeText.duration(milliseconds: 7_620_000) == "2 h 07 min")
        #expect(TimeText.rfc3339(1_700_000_000_125) == "2023-11-14T22:13:20.125Z")
    }

    @Test func exitStatus_ofWork_cancelledBeforeTimedOutBeforeFailed() {
        #expect(ExitStatus.combined([.success, .failures, .cancelled, .deadline]) == .cancelled)
        #expect(ExitStatus.combined([.failures, .deadline]) == .deadline)
        #expect(ExitStatus.combined([]) == .success)
        let timedOut = WireSubmissionView.with {
            $0.state = .failed
            $0.timedOut = true
        }
        #expect(ExitStatus(outcome: timedOut) == .deadline)
    }

    @Test func columns_areCountedAsTerminalsShowThem() {
        #expect(DisplayWidth.cut("abcdef", to: 4) == "abc…")
        #expect(DisplayWidth.cut("日本語", to: 5) == "日本…")
        #expect(DisplayWidth.cut("a\tb\nc", to: 9) == "a b c")
        #expect(DisplayWidth.of("日本") == 4)
    }

    @Test(arguments: [("abc", "abc", ""), ("abc/x/y", "abc", "x/y"), ("last/", "last", ""), ("abc/x/", "abc", "x"), ("abc//x", "abc", "x")])
    func references_areSplitAtTheFirstSlash(_ text: String, _ submission: String, _ path: String) {
        let reference = OperationReference(argument: text)
        #expect(reference?.submission == submission && reference?.path == path)
    }

    /// What was kept from running has written nothing, nor what did not come to an attempt.
    @Test(
        arguments: [
            (.condition, 1, false), (.duplicate, 0, false), (.quarantined, 1, false), (.timeout, 0, false), (.deadline, 0, false),
            (.timeout, 1, true), (.deadline, 1, true), (.exit, 1, true), (.operation, 2, true),
        ] as [(WireFailureCode, UInt32, Bool)])
    func explanation_offersTheLogOfWhatHasRun(code: WireFailureCode, attempts: UInt32, isOffered: Bool) {
        let explanation = WireExplanation.with {
            $0.submission = "s"
            $0.state = .failed
            $0.causes = [
                .with {
                    $0.operation = "s/a"
                    $0.failure.code = code
                    $0.attempts = attempts
                }
            ]
        }
        let text = ExplainText(explanation, style: Style(isEnabled: false)).text
        #expect(text.contains("`aop logs s/a`") == isOffered, "\(text)")
    }

    /// Of what had joined another one the log is that one's.
    @Test func explanation_offersTheLogOfTheOneThatWasJoined() {
        let explanation = WireExplanation.with {
            $0.submission = "s"
            $0.path = "a"
            $0.state = .failed
            $0.causes = [
                .with {
                    $0.operation = "s/a"
                    $0.text = "did as f/a, which it had joined"
                },
                .with {
                    $0.operation = "f/a"
                    $0.link = "duplicate"
                    $0.failure.code = .exit
                    $0.attempts = 1
                },
            ]
        }
        let text = ExplainText(explanation, style: Style(isEnabled: false)).text
        #expect(text.contains("because of f/a.\n") && text.contains("  s/a: did as f/a, which it had joined\n"), "\(text)")
        #expect(text.hasSuffix("  → `aop logs f/a` has what it wrote\n"), "\(text)")
    }

    /// All of one operation: it has not failed because of another one.
    @Test func explanation_namesEachConditionThatFailed() {
        let explanation = WireExplanation.with {
            $0.submission = "s"
            $0.path = "a"
            $0.state = .failed
            $0.causes = ["/x", "/y"].map { file in
                WireCause.with {
                    $0.operation = "s/a"
                    $0.text = "its condition `FileExists` failed: \(file)"
                    $0.failure.code = .condition
                    $0.condition.key = "FileExists"
                    $0.condition.reason = file
                }
            }
        }
        let text = ExplainText(explanation, style: Style(isEnabled: false)).text
        #expect(!text.contains("because of") && !text.contains("`aop logs"), "\(text)")
        for file in ["/x", "/y"] {
            #expect(text.contains("  s/a: its condition `FileExists` failed: \(file)\n"), "\(text)")
            #expect(text.contains("  → FileExists: ") && text.contains("(coordinator): \(file), at "), "\(text)")
        }
    }

    @Test func textOfCommands_cannotSteerTheTerminal() {
        #expect(PlainText.of("\u{1B}[31mred\u{1B}]0;title\u{07}\r\u{7f}") == "␛[31mred␛]0;title␇␍␡")
        #expect(PlainText.of("plain\ttext\n— ünï 😀") == "plain\ttext\n— ünï 😀")
    }

    /// However it is cut.
    @Test(arguments: ["\u{1B}[31mred\u{1B}]0;title\u{07}\r\u{7f}", "plain\ttext\n— ünï 😀 ©", "\u{9b}2J¢\u{80}\u{a0}"])
    func textInPieces_cannotSteerTheTerminalEither(text: String) {
        let bytes = Data(text.utf8)
        for length in 1...bytes.count {
            var (pieces, shown) = (PlainText.Pieces(), Data())
            for start in stride(from: 0, to: bytes.count, by: length) {
                shown += pieces.next(bytes[start..<min(start + length, bytes.count)])
            }
            #expect(String(decoding: shown + pieces.end(), as: UTF8.self) == PlainText.of(text), "\(length)")
        }
    }

    @Test func halfACharacter_isKept() {
        var pieces = PlainText.Pieces()
        #expect(pieces.next(Data([0x61, 0xC2])) == Data([0x61]))
        #expect(pieces.end() == Data([0xC2]))
    }

    @Test func blockingRead_isGivenUp_whenItsCommandIsInterrupted() async throws {
        let begun = AsyncStream<Void>.makeStream()
        let never = DispatchSemaphore(value: 0)
        let reading = Task {
            try await OwnThread.run {
                begun.continuation.yield(())
                never.wait()
            }
        }
        for await _ in begun.stream { break }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        never.signal()
    }
}
