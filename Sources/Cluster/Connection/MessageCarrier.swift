import Wire

/// What takes the messages of a connection: a link to another process, or a coordinator in this one.
package protocol MessageCarrier: AnyObject, Sendable {
    func send(_ message: WirePeerMessage, attachment: Buffer?)
}

extension PeerLink: MessageCarrier {}
