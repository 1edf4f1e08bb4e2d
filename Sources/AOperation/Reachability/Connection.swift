/// A kind of network connection: one that is there, or one that is required.
public enum Connection: Hashable, Sendable, Codable, CustomStringConvertible {
    /// None. As a requirement: there must be none.
    case none
    /// Through a wireless interface.
    case wifi
    /// Through a mobile network.
    case cellular
    /// As a requirement: of whatever kind. As a finding: of another kind than the two above, e.g. wired.
    case any

    public var description: String {
        switch self {
        case .none: "No Connection"
        case .wifi: "WiFi"
        case .cellular: "Cellular"
        case .any: "Any Connection"
        }
    }
}
