import Foundation
import Synchronization

/// A file that lines are appended to, also by several processes at once.
///
/// It is opened when there is something to write. What cannot be written is dropped, and said once, on standard error: work goes on
/// without it.
final class TraceFile: Sendable {
    /// The variable that names the file.
    static let variable = "AOP_TRACE_FILE"
    /// Of one file; whatever is not written then is dropped. Somebody who moves it away has a fresh one with the next process.
    static let bytesMax = 1 << 30

    private enum State {
        case unopened
        case open(Int32)
        /// It cannot be written.
        case failed
    }

    let path: String
    private let bytesMax: Int
    private let state = Mutex(State.unopened)
    private let tell: SpanNotice.Teller

    /// - Parameter tell: is told why it cannot be written, at most once.
    init(
        _ path: String, bytesMax: Int = TraceFile.bytesMax,
        tell: @escaping SpanNotice.Teller = SpanNotice.tell
    ) {
        self.path = path
        self.bytesMax = bytesMax
        self.tell = tell
    }

    deinit {
        if case .open(let descriptor) = state.withLock({ $0 }) { close(descriptor) }
    }

    func append(_ line: Data) {
        let problem = state.withLock { state -> String? in
            if case .unopened = state {
                let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
                guard descriptor >= 0 else {
                    state = .failed
                    return Self.reason(errno)
                }
                state = .open(descriptor)
            }
            guard case .open(let descriptor) = state else { return nil }
            guard lseek(descriptor, 0, SEEK_END) + line.count <= bytesMax else {
                close(descriptor)
                state = .failed
                return "it would have more than \(bytesMax) bytes (bytesMax); move it away"
            }
            // In one call: the kernel lets nobody else write between its bytes.
            let written = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard written != line.count else { return nil }
            let reason = Self.reason(written < 0 ? errno : ENOSPC)
            close(descriptor)
            state = .failed
            return reason
        }
        guard let problem else { return }
        tell(.warning, "spans are dropped: \(path) (\(TraceFile.variable)) cannot be written: \(problem)")
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

/// Spans as lines of a file.
struct FileSink: SpanSink {
    let file: TraceFile
    let resource: SpanResource

    func take(_ record: SpanRecord) { file.append(OTLPMessage(of: [record], from: resource).json + Data("\n".utf8)) }

    /// Each span is written when it ends.
    func flush() {}
}
