import DequeModule

/// Where each executor stands, by worker number. Volatile: rebuilt as they attach again.
struct WorkerTable {
    struct Session {
        enum Connection: Equatable {
            /// Nothing is known of it, or nothing is left to know.
            case absent
            /// It had units when the coordinator started; until the window is over they are nobody else's.
            case awaited
            case attached(PeerID)
            /// Not heard for its lease. What it was told to stop may still be stopping.
            case silent
            /// Its key was revoked, and its connection ended. Until the orphan limit something may still run in it.
            case revoked

            /// Nothing comes from it, and something may still run in it.
            var isUnheard: Bool {
                switch self {
                case .silent, .revoked: true
                case .absent, .awaited, .attached: false
                }
            }
        }
        var connection = Connection.absent
        /// On which connection its lease was over.
        var silentPeer: PeerID?
        /// On which of its connections it was attached last; 0: not told.
        var lastConnection: UInt64 = 0
        /// Boot time.
        var lastHeard: Int64 = 0
        /// Wall time, for those who look.
        var lastHeardWall: Int64 = 0
        /// 0: it has not attached since the coordinator started.
        var slots = 0
        /// How many may begin beyond its slots before it says so.
        var line = 0
        /// The classes that it can take, but for those that take resources of its host.
        var lanes: [Int] = []
        /// Those that take resources, of which its host has enough when they are all free.
        var demandingLanes = LaneSet()
        var operations: [OperationSignature] = []
        /// By operation classes.
        var versions: [Int32: ClosedRange<Int>] = [:]
        var conditions: [String] = []
        var labels: [String] = []
        var isAccepting = true
        /// Its connection was seen to go: nothing new until it is heard again.
        var isSuspected = false
        /// Why it does not come back; nil: nothing is known of that.
        private(set) var bar: WorkerBar?
        /// Since when (wall time).
        private(set) var barredAt: Int64 = 0
        /// Index: units assigned to it, oldest first.
        var units = Deque<UnitID>()
        /// Index: attempts that were given up and may go on in it, as far as their submissions have not ended.
        var strays: [AttemptName] = []
        /// Whether it begins what is linked to something by itself.
        var followsLinks = false
        /// What it begins when these attempts have succeeded. Empty once it may not know of them any more: then they are strays alone.
        var links: [AttemptName: AttemptName] = [:]
        /// It holds one unit that must run alone.
        var isExclusive = false
        /// It is kept free for this unit, which must run alone.
        var reservedFor: UnitID?
        /// A timer looks after its lease.
        var isLeaseWatched = false
        /// What may have been running in it when its lease was over. Until it attaches again.
        var begunUnheard: [BegunAttempt] = []
        /// What had ended in it when it attached last, and whose end has not come.
        var endsToTell: Set<UnitID> = []
        /// The coordinator stood still, and other ends may be on their way: until the executor attaches again, or is heard after this boot time.
        var endsDoubtedUntil: Int64?
        /// Units it was asked to give back.
        var recalled: [UnitID] = []
        /// Mean duration of its attempts in sixteenths of a millisecond, exponentially weighted; nil: none yet.
        var meanDuration: Int64?

        var isAttached: Bool { peer != nil }
        var peer: PeerID? {
            if case .attached(let peer) = connection { peer } else { nil }
        }

        /// - Parameter now: wall time.
        mutating func keepOut(_ bar: WorkerBar, at now: Int64) {
            guard self.bar != bar else { return }
            (self.bar, barredAt) = (bar, now)
        }

        mutating func letIn() { (bar, barredAt) = (nil, 0) }

        mutating func remove(_ unit: UnitID) {
            // Mostly those end first that came first.
            if units.first == unit {
                units.removeFirst()
            } else if let index = units.firstIndex(of: unit) {
                units.remove(at: index)
            }
            if !recalled.isEmpty { recalled.removeAll { $0 == unit } }
            if !endsToTell.isEmpty { endsToTell.remove(unit) }
            if units.isEmpty { isExclusive = false }
        }

        mutating func noteDuration(milliseconds: Int64) {
            let sample = max(0, milliseconds) * 16
            meanDuration = meanDuration.map { $0 + (sample - $0) / 8 } ?? sample
        }

        /// How many may wait there beyond its slots, if no executor may have more than so many.
        func prefetch(atMost share: Int) -> Int { min(slots * prefetchPerSlot, share) }

        /// How many units may follow one another at the executor beyond its slots, for each of them: what it does in `prefetchMilliseconds`, so that
        /// short operations hide the way to it and long ones are not tied to it.
        var prefetchPerSlot: Int {
            guard let meanDuration else { return 0 }
            return Int(min(Self.prefetchPerSlotMax, Self.prefetchMilliseconds * 16 / max(meanDuration, 16)))
        }

        var hasShortest: Bool { prefetchPerSlot == Self.prefetchPerSlotMax }

        private static let prefetchMilliseconds: Int64 = 100
        private static let prefetchPerSlotMax: Int64 = 64
    }

    /// A supervisor's host, by number: what all its executors share.
    struct Host {
        /// As the executors said last.
        var capacity: [ResourceAmount] = []
        /// The class for which it is kept.
        var keptFor: Int?
    }

    var sessions: [Session] = []
    var hosts: [Host] = []
    var byPeer: [PeerID: WorkerNumber] = [:]
    /// Those whose lease was over, as long as their connection has not gone: something may still come on it.
    private(set) var silentByPeer: [PeerID: WorkerNumber] = [:]

    mutating func append(hosts count: Int) {
        sessions.append(Session())
        while hosts.count < count { hosts.append(Host()) }
    }
    func number(of peer: PeerID) -> WorkerNumber? { byPeer[peer] }

    mutating func silence(_ number: WorkerNumber, on peer: PeerID) {
        byPeer[peer] = nil
        silentByPeer[peer] = number
        sessions[number.index].silentPeer = peer
    }

    mutating func forgetSilence(of number: WorkerNumber) {
        guard let peer = sessions[number.index].silentPeer else { return }
        silentByPeer[peer] = nil
        sessions[number.index].silentPeer = nil
    }
}
