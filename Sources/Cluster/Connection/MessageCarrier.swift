import Wire

/// What takes the messages of a connection: a link to another process, or a coordinator in this one.
package protocol MessageCarrier: AnyObject, Sendable {
    /// Messages are sent to the coordinator that has just welcomed; until then those for the one before are dropped.
    func enter()
    func send(_ message: WirePeerMessage, attachment: Buffer?)
}

extension PeerLink: MessageCarrier {}

/// A coordinator in this process.
package protocol MemoryCarrier: MessageCarrier {
    /// Its readings of time, in milliseconds.
    var readings: (boot: Int64, wall: Int64) { get }
    /// Something has changed that time may have waited for.
    func lookAgain()
    /// Connects what executes in the program, without keeping it. What that sends goes to what is returned.
    func attach(_ peer: any MemoryPeer, incarnation: UInt64) -> any MessageCarrier
}

/// What executes in the program for a coordinator in this process. It is called on that one's thread, and has dealt with what it
/// is told when it returns.
package protocol MemoryPeer: AnyObject, Sendable {
    func hello() -> WireExecutorHello
    func tell(_ event: PeerLink.Event)
    /// When it is to be told that time has gone on.
    var deadline: Int64? { get }
    func tick()
    /// What it was given and has not ended.
    var openCount: Int { get }
    /// Bodies that wait for what others send.
    var readerCount: Int { get }
    /// Something that bodies have sent is not on the coordinator's disk.
    var isSending: Bool { get }
    /// Something is being told to stop.
    var isStopping: Bool { get }
}
