import AOperation
import Foundation
import Wire

/// Turns a command's stdout into its value, and its end into a failure.
enum CommandOutput {
    /// - Throws: ``OperationFault`` with code `OUTPUT` when the bytes are not what `form` asks for.
    static func value(of bytes: [UInt8], as form: ShellParameters.OutputForm) throws -> EncodedValue {
        switch form {
        case .none:
            return .void
        case .bytes:
            return .bytes(Data(bytes))
        case .text:
            let end = bytes.last == UInt8(ascii: "\n") ? bytes.count - 1 : bytes.count
            try requireUTF8(bytes)
            return EncodedValue(encoding: .text, bytes: Data(bytes[..<end]))
        case .lines:
            try requireUTF8(bytes)
            return .json(lines(bytes))
        case .json:
            do {
                try requireUTF8(bytes)
                return .json(Data(bytes[try JSONScanner.check(bytes)]))
            } catch let malformed as JSONScanner.Malformed {
                let found = bytes.allSatisfy { $0 <= 0x20 } ? "it is empty" : "\(malformed)"
                throw OperationFault(
                    .output, "stdout is not JSON: \(found); let the command print one JSON value, or use `output: text`")
            }
        }
    }

    private static func requireUTF8(_ bytes: [UInt8]) throws {
        guard !isUTF8(bytes) else { return }
        throw OperationFault(.output, "stdout is not UTF-8 text; use `output: bytes`")
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    private static func lines(_ bytes: [UInt8]) -> Data {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        var json = Data("[".utf8)
        for (index, line) in lines.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            json.append(contentsOf: JSONText.quoted(line))
        }
        json.append(UInt8(ascii: "]"))
        return json
    }
}

/// How a command ended, in words.
enum CommandEnding: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)

    /// The failure it means; nil for exit code 0.
    ///
    /// - Parameter redaction: what the failure must not tell; looked for before anything is cut.
    func fault(host: String, stderr tail: [UInt8], _ redaction: Redaction = Redaction()) -> OperationFault? {
        let stderr = redaction.apply(toTail: String(decoding: tail, as: UTF8.self))
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
