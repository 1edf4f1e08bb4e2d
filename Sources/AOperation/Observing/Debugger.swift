import Foundation
import Logging
import Synchronization

extension AOperation {
    /// What the library says about the operations of this process: lines on standard output, events for a logger, and
    /// how long operations spent where. All of it is off by default, and costs one relaxed load per stage then.
    ///
    /// ```swift
    /// AOperation.Debugger.logger = Logger(label: "operations")
    /// AOperation.Debugger.timingsHandler = { operation, timings in metrics.record(timings.executing) }
    /// ```
    public struct Debugger {
        /// What is on.
        private static let modes = Atomic<UInt8>(0)
        private static let sinks = Guarded(Sinks())

        private struct Sinks {
            var logger: Logger?
            var errorHandler: (@Sendable (String) -> Void)?
            var timingsHandler: (@Sendable (AOperation, OperationTimings) -> Void)?
        }

        /// Whether every stage of every operation is printed to standard output; false by default.
        public static var printOperationsState: Bool {
            get { Modes(rawValue: modes.load(ordering: .relaxed)).contains(.prints) }
            set { turn(.prints, on: newValue) }
        }

        /// Takes every stage of every operation; nil, the default, for nobody.
        ///
        /// The message is the line that ``printOperationsState`` prints, at level `info` (`warning` for an operation
        /// that ended with errors); further stages (ready, evaluating its conditions, ended) come at level `debug`.
        /// Metadata: `operation` (its name), `operation.id`, `stage`, `queue` if it has a name; at the end `outcome`
        /// (success, failure, cancelled), `errors`, and the durations of ``OperationTimings`` in milliseconds, e.g.
        /// `executingMilliseconds`.
        public static var logger: Logger? {
            get { sinks.withLock { $0.logger } }
            set {
                sinks.set(\.logger, to: newValue)
                turn(.logs, on: newValue != nil)
            }
        }

        /// Takes the timings of every operation when it has ended, on the ending thread: return soon. Nil, the
        /// default, for nobody.
        public static var timingsHandler: (@Sendable (AOperation, OperationTimings) -> Void)? {
            get { sinks.withLock { $0.timingsHandler } }
            set {
                sinks.set(\.timingsHandler, to: newValue)
                turn(.reportsTimings, on: newValue != nil)
            }
        }

        /// Whether operations keep their ``AOperation/timings`` where neither a logger nor a handler takes them;
        /// false by default. An operation that was under way when it was turned on keeps what comes after.
        public static var recordsTimings: Bool {
            get { Modes(rawValue: modes.load(ordering: .relaxed)).contains(.recordsTimings) }
            set { turn(.recordsTimings, on: newValue) }
        }

        /// Takes the library's error lines, e.g. that a body did not end within its grace. Without a handler they go
        /// to the ``logger``, and without that to standard error.
        public static var errorHandler: (@Sendable (String) -> Void)? {
            get { sinks.withLock { $0.errorHandler } }
            set { sinks.set(\.errorHandler, to: newValue) }
        }

        /// Tells that an operation has reached a stage. Not to be called under the operation's lock.
        @inline(__always)
        static func event(_ stage: @autoclosure () -> Stage, of operation: AOperation) {
            let modes = Self.modes.load(ordering: .relaxed)
            if modes != 0 { report(stage(), of: operation, Modes(rawValue: modes)) }
        }

        /// Reports what somebody should look at.
        package static func error(_ line: String) {
            let (handler, logger) = sinks.withLock { ($0.errorHandler, $0.logger) }
            if let handler {
                handler(line)
            } else if let logger {
                logger.error("\(line)")
            } else {
                FileHandle.standardError.write(Data("AOperation: \(line)\n".utf8))
            }
        }

        private static func turn(_ mode: Modes, on isOn: Bool) {
            if isOn {
                modes.bitwiseOr(mode.rawValue, ordering: .relaxed)
            } else {
                modes.bitwiseAnd(~mode.rawValue, ordering: .relaxed)
            }
        }

        @inline(never)
        private static func report(_ stage: Stage, of operation: AOperation, _ modes: Modes) {
            let name = operation.publisherName
            if modes.contains(.prints), stage.isPrinted { print(stage.line(for: name)) }
            guard !modes.isDisjoint(with: .traces) else { return }
            let trace = operation.trace(stage)
            let (logger, handler) = sinks.withLock { ($0.logger, $0.timingsHandler) }
            if let logger { stage.log(of: operation, named: name, trace, to: logger) }
            if let handler, case .ended = stage, let trace { handler(operation, trace.timings) }
        }
    }
}

/// What the debugger does with the stages of operations.
private struct Modes: OptionSet {
    let rawValue: UInt8

    static let prints = Modes(rawValue: 1)
    static let logs = Modes(rawValue: 2)
    static let reportsTimings = Modes(rawValue: 4)
    static let recordsTimings = Modes(rawValue: 8)
    /// For these the instants of the stages are kept.
    static let traces: Modes = [.logs, .reportsTimings, .recordsTimings]
}
