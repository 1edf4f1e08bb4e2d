import Logging

extension AOperation.Debugger {
    /// A stage of an operation's life that the debugger hears of.
    enum Stage {
        /// It is a member of a queue, group or other operation now.
        case added
        /// Its dependencies have ended; its conditions are evaluated.
        case evaluating
        /// It waits for a slot.
        case ready
        /// Its body begins.
        case executed
        case cancelled
        /// Its outcome is decided and told.
        case finished
        /// Its body is over, too.
        case ended
        /// It ended at once: another active operation has its unique id, this one.
        case ignored(String)
        /// Its class does not override `execute()`.
        case withoutBody
        case deinitialized

        /// Whether the documents promise a line for it.
        var isPrinted: Bool {
            switch self {
            case .added, .executed, .cancelled, .finished, .ignored, .withoutBody, .deinitialized: true
            case .evaluating, .ready, .ended: false
            }
        }

        func line(for name: String) -> String {
            switch self {
            case .added: "AOperation \(name) added to queue"
            case .evaluating: "AOperation \(name) evaluates its conditions"
            case .ready: "AOperation \(name) ready"
            case .executed: "AOperation \(name) executed"
            case .cancelled: "AOperation \(name) cancelled"
            case .finished: "AOperation \(name) finished"
            case .ended: "AOperation \(name) ended"
            case .ignored(let uniqueID): "AOperation \(name) ignored because of uniqueId \(uniqueID)"
            case .withoutBody: "AOperation \(name) must override `execute()`."
            case .deinitialized: "AOperation \(name) deinit"
            }
        }

        /// The stage in metadata.
        private var word: String {
            switch self {
            case .added: "added"
            case .evaluating: "evaluating"
            case .ready: "ready"
            case .executed: "executed"
            case .cancelled: "cancelled"
            case .finished: "finished"
            case .ended: "ended"
            case .ignored: "ignored"
            case .withoutBody: "withoutBody"
            case .deinitialized: "deinit"
            }
        }

        /// Sends the stage to a logger.
        func log(of operation: AOperation, named name: String, _ trace: OperationTrace?, to logger: Logger) {
            let ending = operation.ending
            let level = level(ending)
            guard level >= logger.logLevel else { return }
            var metadata: Logger.Metadata = [
                "operation": "\(name)",
                "operation.id": "0x\(String(UInt(bitPattern: ObjectIdentifier(operation)), radix: 16))",
                "stage": "\(word)",
            ]
            if let queue = trace?.queueName { metadata["queue"] = "\(queue)" }
            if case .ignored(let uniqueID) = self { metadata["uniqueId"] = "\(uniqueID)" }
            if let ending, isEnd {
                metadata.merge(ending.metadata) { $1 }
                for (key, value) in trace?.timings.metadata ?? [:] { metadata[key] = value }
            }
            logger.log(level: level, "\(line(for: name))", metadata: metadata)
        }

        private var isEnd: Bool {
            switch self {
            case .finished, .ended: true
            case .added, .evaluating, .ready, .executed, .cancelled, .ignored, .withoutBody, .deinitialized: false
            }
        }

        private func level(_ ending: Ending?) -> Logger.Level {
            guard isPrinted else { return .debug }
            if case .finished = self, case .failure? = ending { return .warning }
            return .info
        }
    }
}

extension Ending {
    fileprivate var metadata: Logger.Metadata {
        switch self {
        case .success: ["outcome": "success"]
        case .failure(let errors): ["outcome": "failure", "errors": .array(errors.map { "\($0.localizedDescription)" })]
        case .cancelled: ["outcome": "cancelled"]
        }
    }
}
