import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct ReachabilityConditionTests {
    typealias Problem = ReachabilityCondition.Error

    @Test func network_isEnough_byDefault() async {
        let network = FakeNetwork(.any)
        #expect(await evaluate(ReachabilityCondition(network.reachability())) == .success)
        network.setUp([])
        let result = await evaluate(ReachabilityCondition(network.reachability()))
        #expect(
            result.published as? Problem
                == Problem(url: nil, connection: .any, reason: "no network interface is up"))
        #expect(result.error?.localizedDescription == "The network cannot be reached: no network interface is up")
        #expect(result.error?.publisher == "ReachabilityCondition")
    }

    @Test func server_mustAcceptConnections() async throws {
        let open = try LocalServer(.silent)
        let closed = try LocalServer(.refusing)
        #expect(await evaluate(ReachabilityCondition(url: open.url())) == .success)
        let result = await evaluate(ReachabilityCondition(url: closed.url()))
        #expect((result.published as? Problem)?.url == closed.url())
        #expect(
            result.error?.localizedDescription == "127.0.0.1:\(closed.port) cannot be reached: Connection refused")
    }

    @Test func error_doesNotShowTheSecretsOfAUrl() {
        let url = URL(string: "https://user:secret@a.example/token?key=1")
        let error = Problem(url: url, connection: .any, reason: "x")
        #expect(error.localizedDescription == "a.example:443 cannot be reached: x")
    }

    @Test(arguments: [Connection.wifi, .cellular])
    func requiredKind_mustBeUp(_ kind: Connection) async {
        let network = FakeNetwork(kind, .any)
        let condition = ReachabilityCondition(network.reachability(), connection: kind)
        #expect(await evaluate(condition) == .success)
        network.setInterfaces([
            NetworkInterface(name: "x", kind: kind), NetworkInterface(name: "y", kind: .any, addresses: ["::2"], isUp: true),
        ])
        let result = await evaluate(condition)
        #expect(
            result.error?.localizedDescription
                == "The network cannot be reached by \(kind): it is reached by another connection")
    }

    @Test(arguments: [Connection.wifi, .cellular], [false, true])
    func machineWithoutSuchAnInterface_fails_evenIfItWouldWait(_ kind: Connection, _ waits: Bool) async {
        let network = FakeNetwork(.any)
        let result = await evaluate(
            ReachabilityCondition(network.reachability(), connection: kind, waitToConnect: waits))
        #expect(
            result.error?.localizedDescription
                == "The network cannot be reached by \(kind): this machine has no \(kind) interface")
    }

    @Test func none_holds_whenThereIsNoConnection() async {
        let network = FakeNetwork(.any)
        let condition = ReachabilityCondition(network.reachability(), connection: .none)
        #expect(await evaluate(condition).error?.localizedDescription == "The network must not be reached: it can be")
        network.setUp([])
        #expect(await evaluate(condition) == .success)
    }

    @Test func D23_waitToConnect_waitsForAnyConnection_andHoldsWhenItIsThere() async {
        let network = FakeNetwork()
        let condition = ReachabilityCondition(network.reachability(), waitToConnect: true, interval: .seconds(3))
        let text = "The network cannot be reached: no network interface is up"
        #expect(await evaluate(condition) == .retry(after: .seconds(3), because: text))
        network.setUp([.any])
        #expect(await evaluate(condition) == .success)
    }

    @Test func waitToConnect_waitsForTheRequiredKind() async {
        let network = FakeNetwork()
        network.setInterfaces([NetworkInterface(name: "wlan0", kind: .wifi)])
        let condition = ReachabilityCondition(network.reachability(), connection: .wifi, waitToConnect: true)
        guard case .retry = await evaluate(condition) else {
            Issue.record("it does not wait")
            return
        }
        network.setUp([.wifi])
        #expect(await evaluate(condition) == .success)
    }

    @Test func unusableUrl_fails_whateverIsRequired() async {
        for connection in [Connection.any, .none] {
            let url = URL(string: "tcp://a.example")
            let result = await evaluate(ReachabilityCondition(url: url, connection: connection, waitToConnect: true))
            #expect((result.published as? Problem)?.reason.hasPrefix("the URL of a.example names no port") == true)
        }
    }

    @Test func D31_conditionsWithDifferentUrls_areBothEvaluated() async throws {
        let (one, other) = (try LocalServer(.refusing), try LocalServer(.refusing))
        let operation = Step().conditions(ReachabilityCondition(url: one.url()), ReachabilityCondition(url: other.url()))
        await AOperationQueue().run(all: [operation])
        #expect(operation.publishedErrors.map { ($0.publishedError as? Problem)?.url } == [one.url(), other.url()])
    }
}
