import Scheduling
import Wire

/// One connection of a process to the coordinator: what is sent in one direction arrives in order, or not at all when the connection
/// has ended.
final class SimulatedConnection {
    let number: Int
    /// Where the peer's end is: partitions and pauses are of hosts.
    let host: SimulatedHost?
    /// Which start of the coordinator has the other end.
    let start: Int
    /// By which number that one knows it, once it has said hello.
    var peer: UInt64?
    /// Whether the peer's end, and the coordinator's, still stand.
    var isOpenHere = true
    var isOpenThere = true
    /// When what was sent last arrives, up and down.
    var lastUp: Int64 = 0
    var lastDown: Int64 = 0

    init(_ number: Int, of host: SimulatedHost?, start: Int) { (self.number, self.host, self.start) = (number, host, start) }
}

/// A host with a worker: its supervisor, and executors, which may be replaced. Or that of the program that submits, which is an executor
/// of what exists only in it, and has no supervisor.
final class SimulatedHost {
    let number: Int
    let isOfSubmitter: Bool
    let labels: [String]
    /// How much it has of what is counted.
    let offer: [ResourceAmount]
    var executors: [SimulatedExecutor] = []
    /// Processes that have ended, with whether they died by themselves: told until it is known to be durable.
    var proofs: [(incarnation: UInt64, crashed: Bool)] = []
    /// Nothing passes between it and the coordinator.
    var isPartitioned = false
    /// All its processes stand still.
    var isPaused = false
    /// It has been lost with everything on it.
    var isLost = false
    /// What waits for the end of a partition, and of a pause.
    var stalled: [Event] = []
    var backlog: [Event] = []
    /// In whose name proofs are given, by the start of the coordinator.
    var supervisor: (start: Int, peer: UInt64)?

    init(_ number: Int, isOfSubmitter: Bool = false, labels: [String] = [], offer: [ResourceAmount] = []) {
        (self.number, self.isOfSubmitter, self.labels, self.offer) = (number, isOfSubmitter, labels, offer)
    }
}

/// What happens in virtual time.
enum Event {
    /// The connection stands, for the peer.
    case connected(SimulatedExecutor, SimulatedConnection)
    /// The connection has ended, or was refused, for the peer.
    case lost(SimulatedExecutor, SimulatedConnection)
    case up(SimulatedConnection, WirePeerMessage, from: SimulatedExecutor)
    case down(SimulatedConnection, WireCoordinatorMessage, to: SimulatedExecutor)
    /// The coordinator learns that the connection has ended.
    case closed(SimulatedConnection)
    case tick(SimulatedExecutor)
    case bodyEnds(SimulatedExecutor, body: Int)
    /// The body sends its next element, and reads on in its stream.
    case bodySends(SimulatedExecutor, body: Int)
    case bodyReads(SimulatedExecutor, body: Int)
    case bodyProduces(SimulatedExecutor, body: Int, RandomWork.Product)
    case proof(SimulatedHost)
    case proofKnown(SimulatedHost, UInt64)
    case replace(SimulatedHost, index: Int)
    case kill(SimulatedExecutor)

    case step
    case written(start: Int)
    case spooled(start: Int)
    /// Values that are files are on the coordinator's disk.
    case valuesWritten(start: Int)
    /// Readers may have waited long enough.
    case waitsEnd(start: Int)
    case coordinatorStarts
    case coordinatorResumes
    case client(ClientEvent)

    case fault
    case heals(SimulatedHost)
    case resumes(SimulatedHost)
    case returns(SimulatedHost)
    case faultsStop

    /// Whether it happens in the coordinator's process.
    var isOfCoordinator: Bool {
        switch self {
        case .up, .closed, .step, .written, .spooled, .valuesWritten, .waitsEnd, .proof: true
        case .client(let event): event.isOfCoordinator
        case .connected, .lost, .down, .tick, .bodyEnds, .bodySends, .bodyReads, .bodyProduces, .proofKnown, .replace, .kill,
            .coordinatorStarts, .coordinatorResumes, .fault, .heals, .resumes, .returns, .faultsStop:
            false
        }
    }

    /// On which host it happens; nil: on none that may be paused.
    var host: SimulatedHost? {
        switch self {
        case .connected(let executor, _), .lost(let executor, _), .down(_, _, let executor), .tick(let executor),
            .bodyEnds(let executor, _), .bodySends(let executor, _), .bodyReads(let executor, _), .bodyProduces(let executor, _, _),
            .kill(let executor):
            executor.host
        case .replace(let host, _), .proofKnown(let host, _): host
        case .up, .closed, .proof, .step, .written, .spooled, .valuesWritten, .waitsEnd, .coordinatorStarts, .coordinatorResumes, .client,
            .fault, .heals,
            .resumes,
            .returns, .faultsStop:
            nil
        }
    }

    /// Through whose network it comes; nil: through none that may be cut.
    var network: SimulatedHost? {
        switch self {
        case .connected(_, let connection), .lost(_, let connection), .up(let connection, _, _), .down(let connection, _, _),
            .closed(let connection):
            connection.host
        case .proof(let host), .proofKnown(let host, _): host
        case .tick, .bodyEnds, .bodySends, .bodyReads, .bodyProduces, .replace, .kill, .step, .written, .spooled, .valuesWritten, .waitsEnd,
            .coordinatorStarts, .coordinatorResumes, .client, .fault, .heals, .resumes, .returns, .faultsStop:
            nil
        }
    }
}
