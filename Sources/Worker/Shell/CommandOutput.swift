import AOperation
import Foundation
import Wire

/// Turns a command's stdout into its value, and its end into a failure.
enum CommandOutput {
    /// What is in a file is looked at beside the loop and beside cooperative threads, and stays there: it is not read into memory as a whole.
    ///
    /// - Throws: ``OperationFault`` with code `OUTPUT` when the bytes are not what `form` asks for, with `LIMIT` when they make a value that
    ///   is too large, also for a file, and with `OPERATION` when the disk did not take them.
    static func value(
        of output: KeptOutput, as form: ShellParameters.OutputForm, on host: HostSettings
    ) async throws -> EncodedValue {
        let directory = host.temporaryDirectory
        do {
            switch output {
            case .memory(let bytes): return try value(of: Data(bytes), as: form, in: directory)
            case .file(let file): return try await file.read { bytes in try value(of: bytes, as: form, in: directory) }
            }
        } catch let error as SystemCallError {
            throw fault(for: error, host: host.hostName)
        }
    }

    /// The disk of a worker did not take what a command has written, or it is more than a file may have.
    static func fault(for error: any Error, host: String) -> OperationFault {
        let isTooLarge = (error as? SystemCallError)?.errno == EFBIG
        return OperationFault(isTooLarge ? .limit : .operation, "cannot keep the output on \(host): \(error)")
    }

    private static func value(of bytes: Data, as form: ShellParameters.OutputForm, in directory: String) throws -> EncodedValue {
        switch form {
        case .none:
            return .void
        case .bytes:
            return .bytes(bytes)
        case .text:
            try requireUTF8(bytes)
            return EncodedValue(encoding: .text, bytes: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes)
        case .lines:
            try requireUTF8(bytes)
            // With quotes and escapes it is longer than what the command has written.
            let array = try lines(bytes, in: directory)
            guard array.count <= Limits.valueBytes else { throw OutputLimit(.max, of: form).fault(found: array.count) }
            return .json(array)
        case .json:
            do {
                try requireUTF8(bytes)
                return .json(bytes.part(try JSONScanner.check(bytes)))
            } catch let malformed as JSONScanner.Malformed {
                let found = bytes.allSatisfy { $0 <= 0x20 } ? "it is empty" : "\(malformed)"
                throw OperationFault(
                    .output, "stdout is not JSON: \(found); let the command print one JSON value, or use `output: text`")
            }
        }
    }

    private static func requireUTF8(_ bytes: Data) throws {
        guard !UTF8Check.holds(bytes) else { return }
        throw OperationFault(.output, "stdout is not UTF-8 text; use `output: bytes`")
    }

    private static func lines(_ bytes: Data, in directory: String) throws -> Data {
        var json = ValueBuilder(in: directory)
        try json.append { $0.append(UInt8(ascii: "[")) }
        try bytes.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
            var start = 0
            while start < bytes.count {
                let end = endOfLine(in: bytes, from: start)
                let opening: [UInt8] = start > 0 ? [UInt8(ascii: ","), UInt8(ascii: "\"")] : [UInt8(ascii: "\"")]
                try json.append { $0 += opening }
                for place in stride(from: start, to: end, by: Limits.outputMemoryBytes) {
                    let part = UnsafeRawBufferPointer(rebasing: bytes[place..<min(end, place + Limits.outputMemoryBytes)])
                    try json.append { JSONText.appendEscaped(part, to: &$0) }
                }
                try json.append { $0.append(UInt8(ascii: "\"")) }
                start = end + 1
            }
        }
        try json.append { $0.append(UInt8(ascii: "]")) }
        return try json.finish()
    }

    private static func endOfLine(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        return rest.firstIndex(of: UInt8(ascii: "\n")).map { start + $0 } ?? bytes.count
    }
}

/// How much a command may write to its stdout.
struct OutputLimit {
    private enum Reason {
        case maxOutput
        /// `maxOutput` is larger than any value.
        case value
    }

    let bytes: Int
    private let reason: Reason

    /// - Parameter maxOutput: of its parameters.
    init(_ maxOutput: Int?, of form: ShellParameters.OutputForm) {
        let isKept = form != .none
        let wanted = maxOutput ?? (isKept ? Limits.maxOutputBytesDefault : .max)
        if isKept, wanted > Limits.valueBytes {
            bytes = Limits.valueBytes
            reason = .value
        } else {
            bytes = wanted
            reason = .maxOutput
        }
    }

    /// Of an operation that has its value in memory.
    ///
    /// - Returns: bytes.
    /// - Throws: ``OperationFault`` for what is no size.
    static func checked(_ maxOutput: Int?) throws -> Int {
        let limit = maxOutput ?? Limits.maxOutputBytesDefault
        guard (0..<Int.max).contains(limit) else {
            throw OperationFault(.parameters, "`maxOutput` is \(limit): it must be from 0 to \(Int.max - 1)")
        }
        return limit
    }

    func fault(found: Int) -> OperationFault {
        switch reason {
        case .maxOutput:
            OperationFault(.limit, "output is larger than maxOutput (\(ByteSize.describe(bytes))): \(found) bytes; raise `maxOutput`")
        case .value:
            OperationFault(
                .limit,
                "output is larger than any value can be (valueBytes, \(ByteSize.describe(bytes))): \(found) bytes; let the command write a file,"
                    + " and print its name")
        }
    }
}

/// How a command ended, in words.
enum CommandEnding: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)

    /// The failure it means; nil for exit code 0.
    ///
    /// - Parameter redaction: what the failure must not tell.
    func fault(host: String, stderr tail: [UInt8], _ redaction: Redaction = Redaction()) -> OperationFault? {
        if case .exited(0) = self { return nil }
        let stderr = redaction.apply(toTail: tail)
        let end = Self.lastLine(of: stderr).map { ": \($0)" } ?? ""
        switch self {
        case .exited(0):
            return nil
        case .exited(let code):
            return OperationFault(.exit, "exited with \(code) on \(host)\(end)", exitCode: code, stderr: stderr)
        case .signalled(let signal):
            return OperationFault(
                .signal, "ended by signal \(SignalName.describe(signal)) on \(host)\(end)", signal: signal, stderr: stderr)
        }
    }

    private static func lastLine(of text: String) -> String? {
        text.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .last { !$0.isEmpty }
            .map { String($0.prefix(500)) }
    }
}

enum SignalName {
    private static let names: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT",
        SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGUSR1: "SIGUSR1", SIGSEGV: "SIGSEGV",
        SIGUSR2: "SIGUSR2", SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU",
        SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
    ]

    /// "9 (SIGKILL)".
    static func describe(_ signal: Int32) -> String {
        names[signal].map { "\(signal) (\($0))" } ?? String(signal)
    }
}
