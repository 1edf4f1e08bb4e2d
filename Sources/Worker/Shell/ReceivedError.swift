import AOperation
import Executing
import Foundation
import Wire

/// A producer's failure as a command that runs all the same reads it: one JSON object on its standard input, with the names that
/// errors have in `aop show -o json`.
struct ReceivedError: Encodable {
    private let code: String
    private let state: String
    private let publisher: String?
    private let message: String
    private let exitCode: Int32?
    private let signal: Int32?
    private let stderr: String?
    /// Where it was born.
    private let origin: String?
    private let host: String?

    init(_ error: AOperationError, host: String) {
        let failure = WireOperationFailure(error, host: host)
        code = failure.code.word
        state = failure.state == .condition ? "condition" : "execution"
        publisher = failure.publisher.isEmpty ? nil : failure.publisher
        message = failure.message
        exitCode = failure.hasExitCode ? failure.exitCode : nil
        signal = failure.hasSignal ? failure.signal : nil
        stderr = failure.hasStderr ? failure.stderr : nil
        origin = failure.origin.isEmpty ? nil : failure.origin
        self.host = failure.host.isEmpty ? nil : failure.host
    }

    var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(self)
        }
    }
}
