import Foundation

extension AOperation {
    /// Writes a line about what the operation does, for those who look for it later.
    ///
    /// ```swift
    /// writeLog("fetched \(pages.count) pages, \(failed) failed")
    /// ```
    /// In this process it goes to ``Debugger/logger``, at level `info` with the operation's name, and without one to standard error. What
    /// runs on a worker of a cluster has it among its output: `aop logs` shows it, from the first line, also when the operation has ended.
    /// Nobody is held back by it; of what is too long the middle is left out there, and says so.
    ///
    /// What is written after the outcome is decided is ignored.
    /// - Parameter line: without a line end; one with several lines is several lines.
    public final func writeLog(_ line: String) {
        let whole = logical
        guard ending == nil, whole.ending == nil else { return }
        if let relay = whole.attachment(\.logRelay) { return relay(line) }
        let name = whole.publisherName
        if let logger = Debugger.logger {
            logger.info("\(line)", metadata: ["operation": "\(name)"])
        } else {
            FileHandle.standardError.write(Data("\(name): \(line)\n".utf8))
        }
    }

    /// Passes on the lines that the operation writes; `relay` is called on the writing thread.
    package final func relayLog(to relay: @escaping @Sendable (String) -> Void) {
        withAttachments { $0.logRelay = relay }
    }
}
