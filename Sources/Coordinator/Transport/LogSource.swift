import Wire

/// Whom a line of the log is about, as far as the transport tells: what peers say of themselves does not count.
struct LogSource: Hashable {
    /// Proven, or, of a connection that was not let in, shown.
    var key: PublicKey?
    /// Of its host; nil: not known, or of this host's own user (ipc).
    var address: String?

    static let unknown = LogSource()

    /// " from 10.0.0.7 with the key …"; empty: nothing is known.
    var text: String { (address.map { " from \($0)" } ?? "") + (key.map { " with the key \($0)" } ?? "") }
}

extension RouterMessage {
    var source: LogSource { LogSource(key: key, address: address) }
}

extension Peer {
    var source: LogSource { LogSource(key: principal?.key, address: address) }

    /// The host's name, which it says itself, and its address.
    var place: String { address.map { "\(host) at \($0)" } ?? host }
}
