import Foundation
import Logging
import Synchronization
import Wire

@testable import Coordinator

/// A coordinator's keys in a directory, and those of its peers.
struct TestKeys: Sendable {
    let directory: String
    let keys: CoordinatorKeys
    var authorizedPath: String { keys.authorizedPath }

    init(in directory: String) throws {
        self.directory = directory
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try KeyFile(name: "coordinator", pair: try KeyPair(), serverKey: nil).write(to: "\(directory)/\(KeyDirectory.coordinatorFile)")
        try AuthorizedKeys().write(to: "\(directory)/\(KeyDirectory.authorizedFile)", replaces: false)
        keys = try CoordinatorKeys(directory: directory)
    }

    /// A key that nobody knows.
    func strange(_ name: String) throws -> PeerKey {
        let path = "\(directory)/\(name).key"
        try KeyFile(name: name, pair: try KeyPair(), serverKey: keys.pair.publicKey).write(to: path)
        return try PeerKey(contentsOf: path)
    }

    func key(_ name: String, _ roles: Set<KeyRole>, operations: [String] = [], labels: [String] = []) throws -> PeerKey {
        let key = try strange(name)
        try AuthorizedKeys.change(at: authorizedPath) { keys throws(KeyError) in
            try keys.authorize(Principal(name: name, key: key.publicKey, roles: roles, operations: operations, labels: labels))
        }
        return key
    }

    /// A join token, as a key to connect with.
    func token(
        _ name: String, roles: Set<KeyRole> = [.work], labels: [String] = [], validMilliseconds: Int64 = 3_600_000
    ) throws -> PeerKey {
        let token = try strange("token-\(name)")
        let now = WallClock.milliseconds()
        try AuthorizedKeys.change(at: authorizedPath) { keys throws(KeyError) in
            keys.offer(Enrolment(name: name, token: token.publicKey, roles: roles, labels: labels, until: now + validMilliseconds), at: now)
        }
        return token
    }

    func revoke(_ name: String) throws {
        try AuthorizedKeys.change(at: authorizedPath) { keys throws(KeyError) in _ = keys.revoke(name) }
    }
}

/// Keeps what is logged.
final class LogRecorder: LogHandler, Sendable {
    private let kept = Mutex<[String]>([])

    var logger: Logger { Logger(label: "test", factory: { _ in self }) }
    var lines: [String] { kept.withLock { $0 } }

    /// Waits until a line has `text`: at most a minute.
    func waits(for text: String) throws -> String {
        let deadline = BootClock.milliseconds() + 60_000
        var poller = Poller()
        while BootClock.milliseconds() < deadline {
            if let line = lines.first(where: { $0.contains(text) }) { return line }
            _ = try poller.wait(timeoutMilliseconds: 10)
        }
        throw Timeout(what: "waiting for `\(text)` in the log; there is \(lines.joined(separator: "\n"))")
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .info }
        set {}
    }

    func log(event: LogEvent) {
        kept.withLock { $0.append("\(event.level) \(event.message) \(event.metadata?["total"].map { "total \($0)" } ?? "")") }
    }
}
