import CLinux
import Foundation

/// systemd, where it has started this process as a service that notifies (`Type=notify`).
enum ServiceManager {
    /// Says that the service does what it is there for. Does nothing where nobody asked to be told: without `NOTIFY_SOCKET`.
    static func ready(status: String, socket: String = Environment["NOTIFY_SOCKET"]) {
        guard socket.hasPrefix("/") || socket.hasPrefix("@") else { return }
        // Nothing depends on whether it is heard: systemd has its own limit for waiting.
        _ = clinux_notify(socket, "READY=1\nSTATUS=\(status)")
    }
}
