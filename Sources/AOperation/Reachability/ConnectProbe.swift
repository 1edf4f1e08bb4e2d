import Foundation

/// Finds out whether somebody accepts TCP connections at a host and port.
enum ConnectProbe {
    struct Target: Hashable, Sendable {
        var host: String
        var port: UInt16
        /// For name resolution and connecting together.
        var timeout: Duration
    }

    enum Outcome: Equatable, Sendable {
        /// A connection was accepted; `localAddress` is this end's.
        case accepted(localAddress: String?)
        case failed(reason: String)

        static func timedOut(_ target: Target) -> Outcome { .failed(reason: "no answer within \(target.timeout)") }
    }

    /// How many of a host's addresses are tried, all at once.
    private static let addressesMax = 8

    /// Resolves the host's name and connects. Blocks: the connecting not beyond the timeout, the resolving for as long
    /// as the system's resolver likes.
    static func run(_ target: Target) -> Outcome {
        let deadline = ContinuousClock.now + target.timeout
        var hints = addrinfo()
        hints.ai_protocol = Int32(IPPROTO_TCP)
        hints.ai_flags = AI_NUMERICSERV
        var head: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(target.host, String(target.port), &hints, &head)
        guard status == 0 else { return .failed(reason: "the host name was not resolved: \(text(ofResolver: status))") }
        defer { freeaddrinfo(head) }
        var round = Round()
        defer { round.close() }
        var next = head
        while let address = next?.pointee, round.count < addressesMax {
            if round.begin(address) { return round.accepted }
            next = address.ai_next
        }
        return round.wait(until: deadline) ?? .timedOut(target)
    }

    private static func text(ofResolver status: Int32) -> String {
        status == EAI_SYSTEM ? systemError(errno) : String(cString: gai_strerror(status))
    }

    fileprivate static func systemError(_ code: Int32) -> String { String(cString: strerror(code)) }
}

/// Connections that are being made at once, of which the first counts.
private struct Round {
    private var open: [pollfd] = []
    private var lastError: Int32 = 0
    /// The socket whose connection was accepted.
    private var winner: Int32?

    var count: Int { open.count }

    var accepted: ConnectProbe.Outcome { .accepted(localAddress: winner.flatMap { SocketAddress.local($0) }) }

    /// Begins to connect to `address`; true if it is connected already.
    mutating func begin(_ address: addrinfo) -> Bool {
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.ai_family, address.ai_socktype | flags, address.ai_protocol)
        guard descriptor >= 0 else {
            lastError = errno
            return false
        }
        if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 {
            open.append(pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0))
            winner = descriptor
            return true
        }
        guard errno == EINPROGRESS else {
            lastError = errno
            Glibc.close(descriptor)
            return false
        }
        open.append(pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0))
        return false
    }

    /// Waits for the first connection that is accepted, or for the last that is refused; nil at the deadline.
    mutating func wait(until deadline: ContinuousClock.Instant) -> ConnectProbe.Outcome? {
        while !open.isEmpty {
            let remaining = (deadline - .now).interval * 1_000
            guard remaining > 0 else { return nil }
            guard poll(&open, nfds_t(open.count), Int32(min(remaining.rounded(.up), 60_000))) >= 0 || errno == EINTR else {
                return .failed(reason: ConnectProbe.systemError(errno))
            }
            for entry in open where entry.revents != 0 {
                if isConnected(entry.fd) { return accepted }
            }
        }
        return .failed(reason: lastError == 0 ? "the host has no address" : ConnectProbe.systemError(lastError))
    }

    /// Takes in what became of a connection; one that failed is closed.
    private mutating func isConnected(_ descriptor: Int32) -> Bool {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        if getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) != 0 { code = errno }
        guard code != 0 else {
            winner = descriptor
            return true
        }
        lastError = code
        open.removeAll { $0.fd == descriptor }
        Glibc.close(descriptor)
        return false
    }

    mutating func close() {
        for entry in open { Glibc.close(entry.fd) }
        open = []
    }
}
