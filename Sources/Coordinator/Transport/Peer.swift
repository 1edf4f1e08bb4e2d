import Scheduling
import Wire

/// A request of a client, until it is answered.
enum PendingRequest {
    /// The reply is the answer to the client's request of this id.
    case reply(UInt64)
    /// The reply says which units are meant; then a spool is asked.
    case read(ReadRequest)
}

/// One connection that has said hello. Belongs to the transport thread.
final class Peer {
    enum Role: Equatable {
        /// `isDraining`: it takes no more work.
        case executor(isDraining: Bool)
        case supervisor
        case client
    }

    let id: PeerID
    let routingID: RoutingID
    /// Of the connection, where the transport tells.
    let fileDescriptor: Int32?
    let incarnation: UInt64
    let host: String
    /// Of its process, as it has said.
    let pid: UInt32
    /// Of its aop, as it has said.
    let version: String
    /// Where it comes from; nil: over ipc.
    let address: String?
    /// Whose key it has; nil: none, it is the coordinator's own user.
    let principal: Principal?
    /// What it may ask.
    let authority: Authority
    /// A client within this process; nil: it has a connection.
    let local: LocalLink?
    var role: Role
    /// Boot time.
    var lastHeard: Int64
    /// Number of the last step in which the scheduler was told that it was heard.
    var heardInStep: UInt64 = 0
    /// Of its host.
    var clockOffset = ClockOffset()
    var outbox = PeerOutbox()
    /// By the number the scheduler knows them by.
    private(set) var requests: [UInt64: PendingRequest] = [:]
    /// Those among them that read, and wait for more where there is none.
    private(set) var waitingReads = 0
    /// Large values being asked of it, or waiting for their turn.
    var pulls = PullQueue()
    /// Parts of large values that it asked for.
    var reads = PartReads()
    /// Submissions whose events it could not take, as they stand now.
    var laggingViews: [String: SubmissionView] = [:]

    init(
        id: PeerID, routingID: RoutingID, fileDescriptor: Int32?, incarnation: UInt64, host: String, pid: UInt32, version: String,
        address: String? = nil,
        principal: Principal? = nil, authority: Authority = .unlimited, role: Role, local: LocalLink? = nil, now: Int64
    ) {
        self.local = local
        self.principal = principal
        self.authority = authority
        self.id = id
        self.routingID = routingID
        self.fileDescriptor = fileDescriptor
        self.incarnation = incarnation
        self.host = host
        self.pid = pid
        self.version = version
        self.address = address
        self.role = role
        lastHeard = now
    }

    // MARK: Requests

    /// Why one more cannot be taken; nil: it can.
    func lackOfRoom(for request: WireRequest) -> String? {
        if request.waitsForNews {
            guard waitingReads >= CoordinatorLimits.waitingReadsPerPeer else { return nil }
            return CoordinatorLimits.tooManyReadersText
        }
        guard requests.count - waitingReads + pulls.count >= CoordinatorLimits.requestsPerPeer else { return nil }
        return "this connection has \(CoordinatorLimits.requestsPerPeer) requests waiting (requestsPerPeer);"
            + " wait for answers before asking more"
    }

    func note(_ request: PendingRequest, as number: UInt64) {
        requests[number] = request
        if case .read(let read) = request, read.waitsUntil != nil { waitingReads += 1 }
    }

    func takeRequest(_ number: UInt64) -> PendingRequest? {
        let request = requests.removeValue(forKey: number)
        if case .read(let read)? = request, read.waitsUntil != nil { waitingReads -= 1 }
        return request
    }

    /// The reads among its requests.
    var reading: [ReadRequest] {
        requests.values.compactMap { if case .read(let read) = $0 { read } else { nil } }
    }

    var isExecutor: Bool {
        if case .executor = role { true } else { false }
    }
}

/// The connections that have said hello.
struct PeerTable {
    private var byID: [PeerID: Peer] = [:]
    private var byRoute: [RoutingID: PeerID] = [:]
    private var byFileDescriptor: [Int32: PeerID] = [:]
    private var nextID: UInt64 = 0
    /// How often somebody came or went.
    private(set) var changes: UInt64 = 0

    var count: Int { byID.count }
    /// In the order in which they came.
    var all: [Peer] { byID.values.sorted { $0.id < $1.id } }

    subscript(id: PeerID) -> Peer? { byID[id] }
    subscript(route: RoutingID) -> Peer? { byRoute[route].flatMap { byID[$0] } }

    func peers(ofIncarnation incarnation: UInt64, where matches: (Peer) -> Bool) -> [Peer] {
        byID.values.filter { $0.incarnation == incarnation && matches($0) }
    }

    /// Numbers from 1; 0 is the coordinator itself.
    mutating func drawID() -> PeerID {
        nextID += 1
        return PeerID(nextID)
    }

    /// The connection with this descriptor has ended; the descriptor may be used again.
    mutating func release(fileDescriptor: Int32) -> Peer? {
        byFileDescriptor.removeValue(forKey: fileDescriptor).flatMap { byID[$0] }
    }

    mutating func insert(_ peer: Peer) {
        changes += 1
        byID[peer.id] = peer
        if peer.local == nil { byRoute[peer.routingID] = peer.id }
        if let descriptor = peer.fileDescriptor { byFileDescriptor[descriptor] = peer.id }
    }

    mutating func remove(_ peer: Peer) {
        changes += 1
        byID[peer.id] = nil
        if byRoute[peer.routingID] == peer.id { byRoute[peer.routingID] = nil }
        if let descriptor = peer.fileDescriptor, byFileDescriptor[descriptor] == peer.id {
            byFileDescriptor[descriptor] = nil
        }
    }
}
