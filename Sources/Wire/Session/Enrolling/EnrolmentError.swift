/// Why a join came to nothing. The token's secret does not appear.
public struct EnrolmentError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Cause: Sendable, Hashable {
        /// Nobody answers there.
        case unreachable(String)
        /// The coordinator has an obstacle that may pass.
        case unavailable(String)
        /// Not let in: it has expired, was used, or was revoked.
        case denied
        /// Let in, and told why it is of no use.
        case refused(WireRefusal)
        /// Who listens there has not the server key of the token.
        case otherCoordinator
        case withoutKeys
        case socket(ZMQError)
    }

    public let cause: Cause
    public let endpoint: Endpoint
    /// What the token is for.
    public let name: String
    let until: Int64
    /// Wall time of this host when that was so.
    let now: Int64

    init(_ cause: Cause, _ token: JoinToken, _ endpoint: Endpoint, now: Int64 = WallClock.milliseconds()) {
        (self.cause, self.endpoint, name, until, self.now) = (cause, endpoint, token.name, token.until, now)
    }

    public var description: String {
        switch cause {
        case .unreachable(let reason):
            "nobody enrols this host at \(endpoint): \(reason); is the coordinator running, is that its address (--connect), and does "
                + "a firewall let this host in? The same command may be run again"
        case .unavailable(let reason):
            "the coordinator at \(endpoint) cannot enrol this host at the moment: \(reason). The same command may be run again"
        case .denied where now >= until:
            "the coordinator at \(endpoint) does not let this token in: it has expired, it was valid until \(Enrolment.timeText(until)); "
                + remedy
        case .denied:
            "the coordinator at \(endpoint) does not let this token in: it has been used, was revoked, or has expired (it was to be valid "
                + "until \(Enrolment.timeText(until))); \(remedy)"
        case .refused(let refusal): refusal.message.isEmpty ? "the coordinator at \(endpoint) refused: \(refusal.code)" : refusal.message
        case .otherCoordinator:
            "who listens at \(endpoint) is not the coordinator that the token is for: the connection was closed during its handshake; name "
                + "that one with --connect, or make a token on the host of this one: aop keys token \(name)"
        case .withoutKeys:
            "the coordinator at \(endpoint) uses no keys, so it enrols nobody; start it with the keys that the token was made with "
                + "(aop coordinator --keys DIR)"
        case .socket(let error): "\(error)"
        }
    }

    private var remedy: String { "on the coordinator's host, \(KeyDirectory.unnamed), `aop keys token \(name)` makes another one" }
}
