import Coordinator
import Foundation
import Settings
import Wire

/// Whether a coordinator on this host could listen where it is to, or does.
struct PortCheck: Sendable {
    /// Where a coordinator answers; nil: none does.
    let running: Endpoint?

    func findings() -> [Finding] {
        let listen = Settings.list(.listen).compactMap(Endpoint.init(argument:))
        var findings = (listen.isEmpty ? [.standard] : listen).compactMap(finding)
        let http = Settings.text(.http) ?? "127.0.0.1:7601"
        // An address that is none is told with the configuration.
        if let address = try? CoordinatorCommand.address(ofHTTP: http), address.port != 0 {
            findings.append(finding(address))
        }
        return findings
    }

    private func finding(_ endpoint: Endpoint) -> Finding? {
        guard let host = endpoint.host, let port = endpoint.port, port != 0 else { return nil }
        switch SocketTrial.listen(host: host, port: port) {
        case .free: return Finding(.ports, .ok, "\(endpoint) is free for a coordinator")
        case .taken where Self.isAnswered(at: endpoint, by: running): return Finding(.ports, .ok, "\(endpoint) is the coordinator's")
        case .taken:
            return Finding(
                .ports, .error, "\(endpoint) is taken, and not by a coordinator of yours that answers there",
                remedy: "`ss -ltnp sport = :\(port)` names who listens; stop it, or choose another address with --listen (AOP_LISTEN)")
        case .impossible(let why):
            return Finding(
                .ports, .error, "a coordinator cannot listen on \(endpoint): \(why)",
                remedy: "choose an address of this host with --listen (AOP_LISTEN)")
        }
    }

    private func finding(_ address: HTTPAddress) -> Finding {
        switch SocketTrial.listen(host: address.host, port: UInt16(clamping: address.port)) {
        case .free: return Finding(.ports, .ok, "http://\(address)/ is free for a dashboard")
        case .taken where Self.isCoordinator(address): return Finding(.ports, .ok, "http://\(address)/ is a coordinator's dashboard")
        case .taken:
            return Finding(
                .ports, .error, "http://\(address)/ is taken, and not by a coordinator",
                remedy: "`ss -ltnp sport = :\(address.port)` names who listens; stop it, or choose another address with --http (AOP_HTTP)")
        case .impossible(let why):
            return Finding(
                .ports, .error, "a coordinator cannot serve HTTP on \(address): \(why)",
                remedy: "choose an address of this host with --http (AOP_HTTP), or off")
        }
    }

    /// Whether a coordinator that answers at `running` has this address: the same one, or the same port of this host by another of its
    /// addresses or names.
    static func isAnswered(at endpoint: Endpoint, by running: Endpoint?) -> Bool {
        guard let running, running != endpoint else { return running != nil }
        guard let host = running.host, running.port == endpoint.port else { return false }
        guard endpoint.isForListeners else { return running.isLoopback && endpoint.isLoopback }
        // What can be listened on is an address of this host.
        return running.isLoopback || SocketTrial.listen(host: host, port: 0) == .free
    }

    /// Whether what answers there is a coordinator's HTTP. Blocks for some seconds at most.
    private static func isCoordinator(_ address: HTTPAddress) -> Bool {
        let host = ["0.0.0.0", "::"].contains(address.host) ? "127.0.0.1" : address.host
        let trial = SocketTrial.with(host: host, port: UInt16(clamping: address.port), passive: false) { descriptor, target, length in
            var patience = timeval(tv_sec: 2, tv_usec: 0)
            for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
                setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
            }
            let request = Array("GET /healthz HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\r\n".utf8)
            guard connect(descriptor, target, length) == 0, send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) > 0 else {
                return .impossible(String(cString: strerror(errno)))
            }
            var answer = [UInt8](repeating: 0, count: 4096)
            var length = 0
            while length < answer.count {
                let count = answer[length...].withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
                if count <= 0 { break }
                length += count
            }
            // `{"status":"ok","epoch":7}`, or that the coordinator behind it does not answer.
            let text = String(decoding: answer[..<length], as: UTF8.self)
            return text.contains("\"status\"") && (text.contains("\"epoch\"") || text.contains("unavailable")) ? .taken : .free
        }
        return trial == .taken
    }
}
