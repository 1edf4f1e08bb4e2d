import Foundation

@testable import AOperation

/// A network that a test switches on and off.
final class FakeNetwork: Sendable {
    private let state = Guarded(State())

    private struct State {
        var interfaces: [NetworkInterface] = []
        var looks = 0
        var onLook: (@Sendable (Int) -> Void)?
    }

    init(_ kinds: Connection...) { setUp(kinds) }

    /// Interfaces of these kinds are up, and no others are.
    func setUp(_ kinds: [Connection]) {
        let interfaces = kinds.enumerated().map { index, kind in
            NetworkInterface(name: "net\(index)", kind: kind, addresses: ["10.0.0.\(index)"], isUp: true)
        }
        state.withLock { $0.interfaces = interfaces }
    }

    func setInterfaces(_ interfaces: [NetworkInterface]) { state.withLock { $0.interfaces = interfaces } }

    /// Is called with the number of the look, before each.
    func onLook(_ handler: @escaping @Sendable (Int) -> Void) { state.withLock { $0.onLook = handler } }

    var looks: Int { state.withLock { $0.looks } }

    func reachability() -> Reachability {
        Reachability(url: nil, environment: Reachability.Environment { [self] in look() })
    }

    private func look() -> [NetworkInterface] {
        let (number, handler) = state.withLock { state in
            state.looks += 1
            return (state.looks, state.onLook)
        }
        handler?(number)
        return state.withLock { $0.interfaces }
    }
}

extension Reachability {
    /// What a look finds.
    func found() async -> Reach {
        await withCheckedContinuation { continuation in look { continuation.resume(returning: $0) } }
    }

    /// A look at a host that `probe` answers for.
    static func host(
        interfaces: [NetworkInterface] = [], _ probe: @escaping @Sendable (ConnectProbe.Target) -> ConnectProbe.Outcome
    ) -> Reachability {
        Reachability(
            url: URL(string: "https://server.example"),
            environment: Environment(interfaces: { interfaces }, board: ProbeBoard(run: probe)))
    }
}

extension Reach {
    var reason: String? {
        switch self {
        case .reached: nil
        case .unreachable(let reason), .impossible(let reason): reason
        }
    }
}
