/// What a look at the network has found.
enum Reach: Equatable, Sendable {
    /// The target can be reached, through interfaces of these kinds.
    case reached(Set<Connection>)
    /// Not now.
    case unreachable(reason: String)
    /// Never: the target is no target, or this machine lacks what is needed.
    case impossible(reason: String)

    /// As one connection; where there are several, the one that costs least.
    var connection: Connection {
        switch self {
        case .reached(let kinds): [.any, .wifi, .cellular].first { kinds.contains($0) } ?? .any
        case .unreachable, .impossible: .none
        }
    }
}
