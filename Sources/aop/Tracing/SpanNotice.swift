import Logging
import Worker

/// What those who read standard error are told of spans, which are made also where nobody logs.
enum SpanNotice {
    typealias Teller = @Sendable (Logger.Level, String) -> Void

    static let tell: Teller = { level, message in
        let word = level >= .warning ? "warning: " : ""
        ServiceNotice.write(level, message, logger: "aop.spans", text: "aop: \(word)\(message)")
    }
}
