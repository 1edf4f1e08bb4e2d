import CZMQ

extension SocketHandle {
    /// The options both kinds of socket need, each set although some equal libzmq's default: what bites is written down.
    /// They act on later binds and connects, so this comes first.
    func setCommonOptions() throws(ZMQError) {
        // Messages, not bytes, per connection; beyond it a send is `full` and the sender's own bounded outbox takes over.
        try set(ZMQ_SNDHWM, "SNDHWM", to: 1000 as Int32)
        // Never tiny together with heartbeats: libzmq may assert when a reader is at its mark (libzmq #3937).
        try set(ZMQ_RCVHWM, "RCVHWM", to: 1000 as Int32)
        // A peer that sends a larger frame is disconnected.
        try set(ZMQ_MAXMSGSIZE, "MAXMSGSIZE", to: Int64(Limits.messageBytes))
        // libzmq's default waits for ever at the context's end.
        try set(ZMQ_LINGER, "LINGER", to: 0 as Int32)
        // A check of the wire only: libzmq's I/O thread answers also for a hung process. Milliseconds.
        try set(ZMQ_HEARTBEAT_IVL, "HEARTBEAT_IVL", to: 1000 as Int32)
        try set(ZMQ_HEARTBEAT_TIMEOUT, "HEARTBEAT_TIMEOUT", to: 3000 as Int32)
        try set(ZMQ_HEARTBEAT_TTL, "HEARTBEAT_TTL", to: 3000 as Int32)
        // How long a connection may take to introduce itself (libzmq: 30 s, an invitation to hold many open).
        try set(ZMQ_HANDSHAKE_IVL, "HANDSHAKE_IVL", to: 5000 as Int32)
        try set(ZMQ_TCP_KEEPALIVE, "TCP_KEEPALIVE", to: 1 as Int32)
        try set(ZMQ_TCP_KEEPALIVE_IDLE, "TCP_KEEPALIVE_IDLE", to: 30 as Int32)
        try set(ZMQ_TCP_KEEPALIVE_CNT, "TCP_KEEPALIVE_CNT", to: 3 as Int32)
        try set(ZMQ_TCP_KEEPALIVE_INTVL, "TCP_KEEPALIVE_INTVL", to: 10 as Int32)
        // Unacknowledged data on a dead path ends the connection after 20 s instead of half an hour.
        try set(ZMQ_TCP_MAXRT, "TCP_MAXRT", to: 20_000 as Int32)
        // No send or receive of ours blocks; these make sure that a slip cannot hang a thread for ever.
        try set(ZMQ_SNDTIMEO, "SNDTIMEO", to: 0 as Int32)
        try set(ZMQ_RCVTIMEO, "RCVTIMEO", to: 0 as Int32)
        // ZAP_DOMAIN stays empty (libzmq does not take "" for it): without keys security is NULL, on loopback only, behind the
        // cookie. It comes together with CURVE, see `useKey`.
    }

    /// ZMQ_ZAP_ENFORCE_DOMAIN: libzmq has had it since 4.3.0, but its header shows it to those who ask for drafts only.
    private static let zapEnforceDomain: Int32 = 93

    /// CURVE for every bind from here on: only whom the ZAP handler lets in is connected. Without a handler, nobody is: libzmq would
    /// let everybody in if no domain were set, or it were not enforced.
    func useKey(of pair: KeyPair) throws(ZMQError) {
        try set(ZMQ_ZAP_DOMAIN, "ZAP_DOMAIN", to: ZAPSocket.domain)
        try set(Self.zapEnforceDomain, "ZAP_ENFORCE_DOMAIN", to: 1 as Int32)
        try set(ZMQ_CURVE_SERVER, "CURVE_SERVER", to: 1 as Int32)
        try setSecretly(ZMQ_CURVE_SECRETKEY, "CURVE_SECRETKEY", to: pair.secretKey.text)
    }

    /// CURVE for every connect from here on.
    func useKey(_ key: PeerKey) throws(ZMQError) {
        try set(ZMQ_CURVE_SERVERKEY, "CURVE_SERVERKEY", to: key.serverKey.text)
        try set(ZMQ_CURVE_PUBLICKEY, "CURVE_PUBLICKEY", to: key.pair.publicKey.text)
        try setSecretly(ZMQ_CURVE_SECRETKEY, "CURVE_SECRETKEY", to: key.pair.secretKey.text)
    }
}
