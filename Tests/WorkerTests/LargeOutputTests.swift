import AOperation
import Foundation
import Synchronization
import Testing
import Wire

@testable import Worker

/// Outputs of commands that are too large for memory.
@Suite(.timeLimit(.minutes(2))) struct LargeOutputTests {
    let runner: CommandRunner
    private var directory: String { runner.host.temporaryDirectory }

    init() throws { runner = try CommandRunner() }

    private func value(_ parameters: ShellParameters) async throws -> EncodedValue {
        let outcome = await runner.run(parameters)
        guard case .success(let value) = outcome else {
            Issue.record("\(parameters.run ?? ""): \(outcome)")
            throw CancellationError()
        }
        return value
    }

    private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    // MARK: What is kept

    @Test func directoryRemovedBySomebody_isMadeAgain() throws {
        let place = directory + "/removed/own"
        let file = try UnnamedFile(in: place)
        let bytes = pattern(1_000)
        try bytes.withUnsafeBytes { try file.write($0) }
        #expect(try Array(file.map()) == bytes)
        try FileManager.default.removeItem(atPath: directory + "/removed")
        try Data().write(to: URL(fileURLWithPath: directory + "/removed"))
        #expect(throws: SystemCallError.self) { try UnnamedFile(in: place) }
    }

    @Test func smallOutput_isInMemory_andLargeOneInAFileWithoutAName() async throws {
        let bytes = pattern(3 * Limits.outputMemoryBytes + 12_345)
        var small = OutputKeeper(in: directory)
        small.append(Array(bytes.prefix(Limits.outputMemoryBytes - 1))) { _, _ in Issue.record("nothing is to be written") }
        guard case .memory(let kept) = small.finish(written: { _, _ in }) else {
            Issue.record("it is in a file")
            return
        }
        #expect(kept.count == Limits.outputMemoryBytes - 1)
        var large = OutputKeeper(in: directory)
        for start in stride(from: 0, to: bytes.count, by: 60_001) {
            large.append(Array(bytes[start..<min(bytes.count, start + 60_001)])) { _, error in if let error { Issue.record(error) } }
        }
        guard case .file(let file) = large.finish(written: { _, _ in }) else {
            Issue.record("it is in memory")
            return
        }
        let read = try await file.read { $0 }
        #expect(read == Data(bytes))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }

    @Test func outputThatIsNotWritten_holdsTheCommandBack() {
        var keeper = OutputKeeper(in: directory)
        let piece = [UInt8](repeating: 7, count: Limits.outputMemoryBytes)
        for _ in 0..<(Limits.outputUnwrittenBytes / piece.count - 1) { keeper.append(piece) { _, _ in } }
        #expect(!keeper.isBehind)
        keeper.append(piece) { _, _ in }
        #expect(keeper.isBehind)
        keeper.wrote(piece.count)
        #expect(!keeper.isBehind)
    }

    @Test func diskThatTakesNothing_isTold_andSaysWhatToDo() async throws {
        try Data().write(to: URL(fileURLWithPath: "\(directory)/file"))
        var keeper = OutputKeeper(in: "\(directory)/file")
        let told = Mutex(0)
        let piece = [UInt8](repeating: 7, count: Limits.outputMemoryBytes)
        for _ in 0..<2 { keeper.append(piece) { _, error in if error != nil { told.withLock { $0 += 1 } } } }
        guard case .file(let file) = keeper.finish(written: { _, _ in }) else {
            Issue.record("it is in memory")
            return
        }
        let error = await #expect(throws: SystemCallError.self) { try await file.read { $0 } }
        #expect(
            error.map { "\($0)" }
                == "open failed for a large value in \(directory)/file: Not a directory; make room there, or start the worker "
                + "with another TMPDIR")
        #expect(told.withLock { $0 } == 2)
    }

    @Test func commandWhoseOutputTheDiskDoesNotTake_isKilled() async throws {
        try FileManager.default.removeItem(atPath: directory)
        try Data().write(to: URL(fileURLWithPath: directory))
        let fault = await runner.run(.init(run: "exec yes", workingDirectory: "/", output: .bytes, maxOutput: 1 << 40)).fault
        #expect(fault?.code == .operation)
        #expect(fault?.message.hasPrefix("cannot keep the output on testhost: open failed for a large value in \(directory): ") == true)
    }

    @Test(arguments: [(EFBIG, .limit), (ENOSPC, .operation), (EIO, .operation)] as [(Int32, WireFailureCode)])
    func outputThatNoFileTakes_isOneOfALimit(_ problem: Int32, code: WireFailureCode) {
        let error = SystemCallError(operation: "write", subject: "a large value in /tmp", errno: problem, remedy: "do something")
        let fault = CommandOutput.fault(for: error, host: "testhost")
        #expect(fault.code == code && fault.message == "cannot keep the output on testhost: \(error)")
    }

    @Test func largeOutputOfACommandThatFails_isNoValue() async {
        let fault = await runner.run(.init(run: "head -c 3000000 /dev/zero; echo oops >&2; exit 7", output: .bytes)).fault
        #expect(fault?.message == "exited with 7 on testhost: oops")
    }

    @Test func largeOutputBeyondMaxOutput_isNamedWithIt() async throws {
        let fault = await runner.run(.init(run: "exec yes", output: .bytes, maxOutput: 3_000_000)).fault
        #expect(fault?.code == .limit)
        #expect(fault?.message.hasPrefix("output is larger than maxOutput (2.9 MiB): ") == true)
        #expect(fault?.message.hasSuffix(" bytes; raise `maxOutput`") == true)
    }

    @Test func noMaxOutput_isMoreThanAValueCanBe() {
        #expect(OutputLimit(nil, of: .bytes).bytes == Limits.maxOutputBytesDefault)
        #expect(OutputLimit(nil, of: ShellParameters.OutputForm.none).bytes == .max)
        #expect(OutputLimit(1 << 50, of: ShellParameters.OutputForm.none).bytes == 1 << 50)
        #expect(OutputLimit(Limits.valueBytes, of: .text).bytes == Limits.valueBytes)
        let limit = OutputLimit(1 << 50, of: .text)
        #expect(limit.bytes == Limits.valueBytes)
        #expect(
            limit.fault(found: 5).message
                == "output is larger than any value can be (valueBytes, 64 GiB): 5 bytes; let the command write a file, and print its name")
        #expect(limit.fault(found: 5).code == .limit)
    }

    // MARK: What becomes of it

    @Test func largeText_losesOneTrailingNewline() async throws {
        let value = try await value(.init(run: "yes 0123456789abcde | head -c 3200000; echo"))
        #expect(value == .text(String(repeating: "0123456789abcde\n", count: 200_000)))
    }

    @Test func largeText_thatIsNotUTF8AtItsEnd_isRefused() async {
        let fault = await runner.run(.init(run: "yes 0123456789abcde | head -c 3200000; printf '\\377'")).fault
        #expect(fault?.message == "stdout is not UTF-8 text; use `output: bytes`")
    }

    @Test func largeLines_areTheSameAsSmallOnes() async throws {
        let value = try await value(.init(run: "seq 1 300000", output: .lines))
        #expect(value == .json(Data(("[" + (1...300_000).map { "\"\($0)\"" }.joined(separator: ",") + "]").utf8)))
    }

    @Test func lineThatIsLongerThanAPiece_isWhole() async throws {
        let value = try await value(.init(run: "head -c 2500000 /dev/zero | tr '\\0' x; echo; echo '\"'", output: .lines))
        #expect(value == .json(Data(("[\"" + String(repeating: "x", count: 2_500_000) + "\",\"\\\"\"]").utf8)))
    }

    @Test func largeJSON_isTrimmed_andBeginsAtItsFirstByte() async throws {
        let value = try await value(.init(run: "printf '  ['; seq -s, 1 300000; printf ']  \\n'", output: .json))
        #expect(value.bytes.startIndex == 0)
        #expect(value == .json(Data(("[" + (1...300_000).map { "\($0)" }.joined(separator: ",") + "\n]").utf8)))
        let fault = await runner.run(.init(run: "printf '['; seq -s, 1 300000", output: .json)).fault
        #expect(fault?.message.hasPrefix("stdout is not JSON: ") == true)
    }

    @Test func valueThatIsBuiltUp_isTheSameInMemoryAndInAFile() throws {
        let bytes = pattern(ValueBuilder.pieceBytes / 2)
        for count in [0, 1, 5] {
            var builder = ValueBuilder(in: directory)
            for _ in 0..<count { try builder.append { $0 += bytes } }
            let value = try builder.finish()
            #expect(value == Data((0..<count).flatMap { _ in bytes }), "\(count)")
        }
    }

    /// Who holds the only `Data` of some memory changes it in place.
    @Test func valueOfAFile_canBeChanged() throws {
        let file = try UnnamedFile(in: directory)
        try pattern(100_000).withUnsafeBytes { try file.write($0) }
        var value = try file.map()
        value[5] = 99
        value.append(1)
        #expect(value.count == 100_001 && value[5] == 99)
        #expect(try file.map() == Data(pattern(100_000)))
    }

    @Test(arguments: 4...11) func charactersAcrossPieces_areWhole(_ pieceBytes: Int) {
        let text = Data(String(repeating: "aé€😀", count: 20).utf8)
        for cut in 0..<10 {
            // A part that begins elsewhere, as parts of values do.
            let padded = Data(repeating: 0x61, count: cut) + text
            #expect(UTF8Check.holds(padded, pieceBytes: pieceBytes))
            #expect(UTF8Check.holds(padded.dropFirst(cut), pieceBytes: pieceBytes))
            #expect(!UTF8Check.holds(padded.dropLast(), pieceBytes: pieceBytes))
            #expect(!UTF8Check.holds(padded + Data(repeating: 0x80, count: 9) + text, pieceBytes: pieceBytes))
        }
        #expect(UTF8Check.holds(Data(), pieceBytes: pieceBytes))
    }
}
