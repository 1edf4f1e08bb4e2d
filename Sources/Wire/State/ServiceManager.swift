import CLinux
import Foundation

/// systemd, where it has started this process as a service that notifies (`Type=notify`), or watches over it (`WatchdogSec=`).
///
/// What is told are the datagrams of sd_notify(3). Does nothing where nobody asked to be told: without `NOTIFY_SOCKET`.
public struct ServiceManager: Sendable {
    public enum News: Sendable, Hashable {
        /// The service does what it is there for.
        case ready
        /// How it is, for `systemctl status`.
        case status(String)
        /// It begins to end.
        case stopping
        /// The state that it is in (the end, for one) may last this long, even if the unit gives it less.
        case needs(milliseconds: Int64)
        /// It does not hang. To be told more often than every ``ServiceManager/watchdogMilliseconds``.
        case alive

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .status(let text): "STATUS=\(text.replacing("\n", with: " "))"
            case .stopping: "STOPPING=1"
            case .needs(let milliseconds): "EXTEND_TIMEOUT_USEC=\(milliseconds.multipliedReportingOverflow(by: 1000).partialValue)"
            case .alive: "WATCHDOG=1"
            }
        }
    }

    /// What it tells this process with; not for those that this process starts.
    public static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    private let socket: String
    /// How long this process may be silent before it is taken for hung; nil: for ever.
    public let watchdogMilliseconds: Int64?

    public init(environment: [String: String] = ProcessInfo.processInfo.environment, process: pid_t = getpid()) {
        let socket = environment["NOTIFY_SOCKET"] ?? ""
        self.socket = socket.hasPrefix("/") || socket.hasPrefix("@") ? socket : ""
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogMilliseconds = isMeant && limit > 0 && !self.socket.isEmpty ? max(1, limit / 1000) : nil
    }

    public func tell(_ news: News...) {
        guard !socket.isEmpty else { return }
        // Nothing depends on whether it is heard: systemd has its own limit for waiting.
        _ = clinux_notify(socket, news.map(\.line).joined(separator: "\n"))
    }
}
