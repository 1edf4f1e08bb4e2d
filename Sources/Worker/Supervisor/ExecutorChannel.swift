import Foundation

/// What supervisor and executor tell each other over the socket between them: one line each.
enum ChannelLine: Equatable, Sendable {
    /// Executor: the part that runs operations is alive.
    case alive
    /// Executor: start another one in my place; I end when my units have.
    case replaceMe
    /// Executor: the coordinator does not let me in, for this reason; I go on trying. At each attempt.
    case denied(String)
    /// Executor: it has let me in. At each attachment.
    case permitted
    /// Supervisor: finish what runs within this time, give the rest back, and end.
    case drain(graceMilliseconds: Int64)

    var text: String {
        switch self {
        case .alive: "alive"
        case .replaceMe: "replace-me"
        case .denied(let reason): "\(Self.deniedPrefix)\(reason.replacing("\n", with: " "))"
        case .permitted: "permitted"
        case .drain(let grace): "drain \(grace)"
        }
    }

    private static let deniedPrefix = "denied "

    init?(_ text: some StringProtocol) {
        switch text {
        case "alive": self = .alive
        case "replace-me": self = .replaceMe
        case "permitted": self = .permitted
        case _ where text.hasPrefix(Self.deniedPrefix): self = .denied(String(text.dropFirst(Self.deniedPrefix.count)))
        default:
            guard text.hasPrefix("drain "), let grace = Int64(text.dropFirst(6)) else { return nil }
            self = .drain(graceMilliseconds: grace)
        }
    }
}

/// One end of that socket. Lives on its loop's thread.
final class ExecutorChannel {
    let descriptor: Int32
    private let loop: EventLoop
    private var received: [UInt8] = []

    init(descriptor: Int32, loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    /// `line` is called for each line that comes, `ended` once, when the other side is gone.
    func begin(line: @escaping (ChannelLine) -> Void, ended: @escaping () -> Void) throws {
        try loop.watch(descriptor, .readable) { [unowned self] in
            guard !receive(line) else { return }
            loop.unwatch(descriptor)
            ended()
        }
    }

    /// Lost when the other side has not read for very long: everything said here is said again or needs no answer.
    func send(_ line: ChannelLine) {
        let bytes = Array("\(line.text)\n".utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    func close() {
        loop.unwatch(descriptor)
        Glibc.close(descriptor)
    }

    /// - Returns: false when the other side is gone.
    private func receive(_ line: (ChannelLine) -> Void) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1024)
        let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        guard count > 0 else { return false }
        received += chunk[..<count]
        while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
            if let known = ChannelLine(String(decoding: received[..<end], as: UTF8.self)) { line(known) }
            received.removeSubrange(...end)
        }
        return true
    }
}
