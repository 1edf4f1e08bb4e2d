import Scheduling
import Wire

/// What takes output and partial results from executors, and answers those who read them: the transport's loop, and a coordinator
/// in memory. They differ in where the spools are and how messages travel; everything else is said here once.
protocol SpoolHost: AnyObject {
    var labels: AttemptLabels { get }
    /// For the scheduler's next step.
    var inputs: [Input] { get set }
    /// Readers that wait for more.
    var waits: ReadWaits<ReadRequest> { get set }
    /// How many readers want to be told of a submission, by its id.
    var watches: [String: Int] { get set }
    /// Attempts whose partial results are not taken.
    var heldBack: Set<AttemptName> { get set }
    var now: Instant { get }

    /// Whether it is connected.
    func isThere(_ peer: PeerID) -> Bool
    /// Of its process; nil: that is not known.
    func incarnation(of peer: PeerID) -> UInt64?
    /// How it is called in logs.
    /// Asks the scheduler in the name of a peer that is there.
    func ask(_ body: Request, _ pending: PendingRequest, of peer: PeerID)
    /// Sends to a peer, if it is there.
    func send(_ message: WireCoordinatorMessage, to peer: PeerID)
    /// A peer has sent what it should not have.
    func note(_ kind: ProtocolCounters.Kind, of peer: PeerID, _ text: String)

    /// Puts partial results into their spool; `acknowledge` is called when they are there.
    func append(_ runs: [ElementRun])
    /// Of an attempt that was given out before this coordinator began, and has ended; nil: there is none.
    func earlierLabel(_ unit: UnitID, _ attempt: Attempt) -> AttemptLabels.Label?
    /// Puts output into its spool; `noteOutput` and `acknowledge` are called when it is there.
    func append(_ records: [OutputRecord])
    /// Reads a spool; `page` or `unreadable` is called with what it has.
    func read(_ ticket: ElementTicket, _ query: ElementQuery)
    func read(_ ticket: OutputTicket, _ query: OutputQuery)
}

extension SpoolHost {
    func respond(_ request: UInt64, _ body: WireResponse.OneOf_Body?, to peer: PeerID) {
        send(
            .with {
                $0.response = .with {
                    $0.request = request
                    $0.body = body
                }
            }, to: peer)
    }
}
