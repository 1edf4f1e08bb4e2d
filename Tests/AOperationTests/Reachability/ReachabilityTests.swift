import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct ReachabilityTests {
    // MARK: Targets

    @Test(arguments: [
        ("http://a.example/x", "a.example:80"), ("HTTPS://a.example", "a.example:443"), ("ws://a.example", "a.example:80"),
        ("wss://a.example", "a.example:443"), ("http://a.example:8080", "a.example:8080"),
        ("tcp://10.0.0.5:7600", "10.0.0.5:7600"), ("http://user:secret@a.example/", "a.example:80"),
        ("http://[::1]:81/", "[::1]:81"),
    ])
    func url_namesHostAndPort(_ text: String, _ target: String) {
        #expect(ReachabilityTarget(URL(string: text)).description == target)
    }

    @Test(arguments: [
        ("file:///tmp/x", "the URL names no host; give it the form https://host or tcp://host:port"),
        ("tcp://a.example", "the URL of a.example names no port, and the scheme \"tcp\" has no known one"),
        ("http://a.example:0", "the URL of a.example names the port 0; it must be between 1 and 65535"),
        ("http://a.example:70000", "the URL of a.example names the port 70000; it must be between 1 and 65535"),
    ])
    func unusableUrl_isNeverReached_andSaysWhy(_ text: String, _ reason: String) async {
        #expect(await Reachability(url: URL(string: text)).found() == .impossible(reason: reason))
        #expect(await Reachability(url: URL(string: text)).connection() == .none)
    }

    // MARK: Connecting

    @Test func listeningServer_isReached() async throws {
        let server = try LocalServer(.silent)
        #expect(await Reachability(url: server.url()).found() == .reached([.any]))
        #expect(await Reachability(url: server.url()).connection() == .any)
    }

    @Test func refusingServer_isNotReached() async throws {
        let server = try LocalServer(.refusing)
        #expect(await Reachability(url: server.url()).found() == .unreachable(reason: "Connection refused"))
    }

    @Test func serverThatDoesNotAnswer_isNotReached_afterTheTimeout() async throws {
        let server = try LocalServer(.full)
        let found = await Reachability(url: server.url(), timeout: .milliseconds(50)).found()
        #expect(found == .unreachable(reason: "no answer within 0.05 seconds"))
    }

    @Test func nameThatDoesNotExist_isNotReached() async {
        let found = await Reachability(url: URL(string: "http://nothing.invalid"), timeout: .milliseconds(200)).found()
        #expect(found.connection == .none)
    }

    @Test func connection_isOfTheKindOfTheInterfaceItGoesThrough() async {
        let interfaces = [
            NetworkInterface(name: "eth0", kind: .any, addresses: ["10.0.0.1"], isUp: true),
            NetworkInterface(name: "wlan0", kind: .wifi, addresses: ["10.0.0.2"], isUp: true),
        ]
        let byWifi = Reachability.host(interfaces: interfaces) { _ in .accepted(localAddress: "10.0.0.2") }
        let unknown = Reachability.host(interfaces: interfaces) { _ in .accepted(localAddress: nil) }
        #expect(await byWifi.found() == .reached([.wifi]))
        #expect(await unknown.found() == .reached([.any]))
    }

    // MARK: HTTP

    @Test(arguments: ["200 OK", "404 Not Found", "503 Service Unavailable"])
    func httpServer_isReached_whateverItsAnswer(_ status: String) async throws {
        let server = try LocalServer(.answering("HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
        let reachability = Reachability(url: server.url(), probe: .head)
        #expect(await reachability.connection() != .none)
    }

    @Test func serverThatAcceptsAndSaysNothing_isNoHttpServer() async throws {
        let server = try LocalServer(.silent)
        let found = await Reachability(url: server.url(), probe: .head, timeout: .milliseconds(100)).found()
        #expect(found == .unreachable(reason: "no answer within 0.1 seconds"))
    }

    @Test func refusingServer_isNoHttpServer() async throws {
        let server = try LocalServer(.refusing)
        #expect(await Reachability(url: server.url(), probe: .head).connection() == .none)
    }

    @Test func headProbe_needsHttp() async {
        let found = await Reachability(url: URL(string: "tcp://a.example:1"), probe: .head).found()
        #expect(found == .impossible(reason: "only http and https servers answer a HEAD request"))
    }

    // MARK: The network

    @Test func network_isReached_whenAnInterfaceIsUp() async {
        let network = FakeNetwork(.wifi)
        #expect(await network.reachability().found() == .reached([.wifi]))
        network.setUp([])
        #expect(await network.reachability().found() == .unreachable(reason: "no network interface is up"))
    }

    @Test func interfaceThatIsDown_orHasNoAddress_isNoConnection() async {
        let network = FakeNetwork()
        network.setInterfaces([
            NetworkInterface(name: "eth0", kind: .any, addresses: ["10.0.0.1"], isUp: false),
            NetworkInterface(name: "eth1", kind: .any, isUp: true),
        ])
        #expect(await network.reachability().connection() == .none)
    }

    @Test func connection_isTheCheapestOfThoseThatAreThere() async {
        let network = FakeNetwork(.cellular, .wifi)
        #expect(await network.reachability().connection() == .wifi)
        network.setUp([.cellular, .any, .wifi])
        #expect(await network.reachability().connection() == .any)
        network.setUp([.cellular])
        #expect(await network.reachability().connection() == .cellular)
    }

    // MARK: Interfaces

    @Test func interfacesOfThisMachine_haveALoopback_thatIsNoConnection() {
        let loopback = NetworkInterface.all().first { $0.addresses.contains("127.0.0.1") }
        #expect(loopback != nil)
        #expect(loopback?.isUsable == false)
    }

    @Test func wirelessInterface_isKnownByTheKernel_cellularByItsName() throws {
        let system = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: system) }
        for path in ["wl0/wireless", "wl1/phy80211", "eth0/queues", "wwan0/queues"] {
            try FileManager.default.createDirectory(atPath: "\(system)/\(path)", withIntermediateDirectories: true)
        }
        let kinds = ["wl0", "wl1", "eth0", "wwan0", "wwp0s20", "ppp0"].map { NetworkInterface.kind(of: $0, system: system) }
        #expect(kinds == [.wifi, .wifi, .any, .cellular, .cellular, .cellular])
    }

    @Test func linkLocalAddresses_areRecognised() {
        #expect(SocketAddress.isLinkLocal("fe80::1"))
        #expect(SocketAddress.isLinkLocal("169.254.3.4"))
        #expect(!SocketAddress.isLinkLocal("10.0.0.1"))
    }

    @Test func connection_isDescribed() {
        let all: [Connection] = [.none, .wifi, .cellular, .any]
        #expect(all.map(\.description) == ["No Connection", "WiFi", "Cellular", "Any Connection"])
    }
}
