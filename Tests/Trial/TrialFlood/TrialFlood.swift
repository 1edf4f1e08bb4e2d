import CZMQ
import Foundation

/// Connects to a coordinator so many times a second, and says nothing sensible: a stranger on its network.
///
///     TrialFlood HOST PORT SERVER-KEY CONNECTIONS-A-SECOND
///
/// Goes on until it is ended. Says on its standard error each second how many connections it has made.
@main struct TrialFlood {
    /// What a connection brings, in turn.
    private enum Garbage: CaseIterable {
        /// It is closed at once.
        case nothing
        /// Bytes of no protocol.
        case noise
        /// A greeting of ZMTP 3.0 that asks for no security.
        case plainGreeting
        /// A greeting that asks for CURVE, and a HELLO that nobody has signed.
        case forgedHello
        /// It stays and says nothing, until as many others have come as are kept open.
        case silence
        /// A whole handshake with a key that the coordinator does not know.
        case unknownKey
    }

    private static let openMax = 200

    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 4, let port = UInt16(arguments[2]), let rate = Int(arguments[4]), rate > 0 else {
            FileHandle.standardError.write(Data("usage: TrialFlood HOST PORT SERVER-KEY CONNECTIONS-A-SECOND\n".utf8))
            exit(64)
        }
        signal(SIGPIPE, SIG_IGN)
        var flood = Flood(host: arguments[1], port: port, serverKey: arguments[3])
        let clock = ContinuousClock()
        let begin = clock.now
        var (made, told) = (0, 0)
        while true {
            // The rate holds on the whole: who was late catches up.
            let due = Int((clock.now - begin) / .seconds(1) * Double(rate))
            while made < due {
                flood.connect(Garbage.allCases[made % Garbage.allCases.count])
                made += 1
            }
            if made / rate > told {
                told = made / rate
                FileHandle.standardError.write(Data("\(made) connections, \(flood.failed) of them refused by the system\n".utf8))
            }
            usleep(2_000)
        }
    }

    private struct Flood {
        private let address: sockaddr_in
        private let endpoint: String
        private let serverKey: String
        private let context: UnsafeMutableRawPointer
        private var publicKey = [CChar](repeating: 0, count: 41)
        private var secretKey = [CChar](repeating: 0, count: 41)
        private var open: [Int32] = []
        private var sockets: [UnsafeMutableRawPointer] = []
        private(set) var failed = 0

        init(host: String, port: UInt16, serverKey: String) {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            guard inet_pton(AF_INET, host, &address.sin_addr) == 1, let context = zmq_ctx_new() else {
                FileHandle.standardError.write(Data("\(host): give an IPv4 address\n".utf8))
                exit(64)
            }
            // Each leaves a socket that is closing behind.
            zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 4_096)
            (self.address, self.context, self.serverKey) = (address, context, serverKey)
            endpoint = "tcp://\(host):\(port)"
            zmq_curve_keypair(&publicKey, &secretKey)
        }

        mutating func connect(_ garbage: Garbage) {
            if garbage == .unknownKey { return shakeHands() }
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            var address = address
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard descriptor >= 0, result == 0 || errno == EINPROGRESS else {
                failed += 1
                if descriptor >= 0 { close(descriptor) }
                return
            }
            open.append(descriptor)
            if open.count > TrialFlood.openMax { close(open.removeFirst()) }
            switch garbage {
            case .nothing: close(open.removeLast())
            case .noise: send((0..<1_024).map { _ in UInt8.random(in: 0 ... .max) }, descriptor)
            case .plainGreeting: send(Self.greeting("NULL") + [0x04, 0x06, 0x05] + Array("READY".utf8), descriptor)
            case .forgedHello:
                let body =
                    Array("\u{5}HELLO".utf8) + [1, 0] + Array(repeating: 0, count: 72) + (0..<120).map { _ in UInt8.random(in: 0 ... .max) }
                send(Self.greeting("CURVE") + [0x04, UInt8(body.count)] + body, descriptor)
            case .silence, .unknownKey: break
            }
        }

        /// The whole greeting of ZMTP 3.0 (https://rfc.zeromq.org/spec/23/).
        private static func greeting(_ mechanism: String) -> [UInt8] {
            let name = Array(mechanism.utf8) + Array(repeating: 0, count: 20 - mechanism.utf8.count)
            return [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 3, 0] + name + Array(repeating: 0, count: 32)
        }

        /// What the wire takes at once: on the way out all of it fits the buffer of a new connection that is there already.
        private func send(_ bytes: [UInt8], _ descriptor: Int32) {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&waiting, 1, 100) == 1 else { return }
            _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }

        private mutating func shakeHands() {
            guard let socket = zmq_socket(context, ZMQ_DEALER) else {
                failed += 1
                return
            }
            var linger: Int32 = 0
            zmq_setsockopt(socket, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size)
            zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, serverKey, serverKey.utf8.count + 1)
            zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, publicKey, publicKey.count)
            zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, secretKey, secretKey.count)
            zmq_connect(socket, endpoint)
            sockets.append(socket)
            // It tries again and again as long as it is there.
            if sockets.count > 4 { zmq_close(sockets.removeFirst()) }
        }
    }
}
