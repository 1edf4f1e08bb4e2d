/// A kind of input that others write, with all of the code that reads it.
///
/// The same code is run by a test with a corpus and a few thousand changed inputs, by `make fuzz` with millions of them, and by
/// libFuzzer.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// What a peer sends to a coordinator: a frame, and all that becomes an input of the scheduler.
    case peerMessages = "peer-messages"
    /// Several messages of an executor and of a client, taken by a coordinator that has work.
    case peerSession = "peer-session"
    /// What a coordinator sends: taken by a session, an executor and a client.
    case coordinatorMessages = "coordinator-messages"
    /// A graph file through all checks, those of admission included.
    case graphFile = "graph-file"
    /// A row of the journal, behind one that is whole.
    case journalRows = "journal-rows"
    /// The sections of a snapshot.
    case snapshot
    /// A configuration file.
    case configuration
    /// The files of keys, the authorised keys, join tokens and addresses.
    case keys

    /// Reads the input. Whatever it is, this returns, soon, and with memory in proportion to its size.
    public func run(_ bytes: [UInt8]) {
        switch self {
        case .peerMessages: PeerMessages.run(bytes)
        case .peerSession: PeerSession.run(bytes)
        case .coordinatorMessages: CoordinatorMessages.run(bytes)
        case .graphFile: GraphFiles.run(bytes)
        case .journalRows: JournalRows.run(bytes)
        case .snapshot: JournalRows.runSnapshot(bytes)
        case .configuration: ConfigurationFiles.run(bytes)
        case .keys: KeyFiles.run(bytes)
        }
    }

    /// Inputs that are right, to begin with.
    public var seeds: [[UInt8]] {
        switch self {
        case .peerMessages: PeerMessages.seeds
        case .peerSession: PeerSession.seeds
        case .coordinatorMessages: CoordinatorMessages.seeds
        case .graphFile: GraphFiles.seeds
        case .journalRows: JournalRows.seeds
        case .snapshot: JournalRows.snapshotSeeds
        case .configuration: ConfigurationFiles.seeds
        case .keys: KeyFiles.seeds
        }
    }

    /// Pieces of which inputs of this kind are made.
    var words: [String] {
        switch self {
        case .graphFile: GraphFiles.words
        case .configuration: ConfigurationFiles.words
        case .keys: KeyFiles.words
        case .peerMessages, .peerSession, .coordinatorMessages, .journalRows, .snapshot: []
        }
    }

    /// Ends the process: what cannot be went on.
    static func fail(_ text: String) -> Never { preconditionFailure(text) }
}
