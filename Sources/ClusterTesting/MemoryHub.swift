import AOperation
import Cluster
import Coordinator
import Foundation
import Scheduling
import Synchronization
import Wire
import Worker

/// The inside of a cluster in memory: carries messages, counts for faults, and lets time go on.
///
/// `@unchecked Sendable`: `coordinator`, `workers` and what counts are only touched on the host's thread; `shared` is for
/// those who look from elsewhere.
final class MemoryHub: @unchecked Sendable {
    private struct Shared {
        var starts: [String: Int] = [:]
        var crashes = (workers: 0, coordinators: 0)
        var core: ConnectionCore?
        /// Messages of the program that have not been looked at.
        var underWay = 0
        /// The coordinator's, counted from 1. What was sent in an earlier one is lost.
        var life: UInt64 = 1
        /// The one in which the client sends.
        var entered: UInt64 = 0
    }

    /// What virtual time begins with, as a wall time: any day will do.
    private static let firstDay: Int64 = 1_900_000_000_000

    private let host: MemoryHost
    private let clock: VirtualClock
    private let slots: Int
    private let count: Int
    private let faults: [InMemoryCluster.Fault]
    private let shared = Mutex(Shared())

    private var random: SeededNumbers
    private let coordinator: MemoryCoordinator
    private var client: UInt64
    private var workers: [UInt64: MemoryWorker] = [:]
    /// What executes in the program.
    private var hosts: [UInt64: MemoryHosting] = [:]
    /// Crashed ones some of whose bodies have not ended: a process's end ends all, and is proven when they have.
    private var dying: [(peer: UInt64, worker: MemoryWorker)] = []
    /// Workers that are to crash.
    private var doomed = 0
    private var hasNews = true

    init(workers count: Int, slots: Int, seed: UInt64, faults: [InMemoryCluster.Fault], clock: VirtualClock) throws {
        (self.count, self.slots, self.faults, self.clock) = (count, slots, faults, clock)
        host = try MemoryHost()
        random = SeededNumbers(seed: seed)
        coordinator = MemoryCoordinator(at: Instant(boot: 0, wall: Self.firstDay), incarnation: random.next() | 1)
        client = coordinator.connect()
    }

    func connect(_ core: ConnectionCore) { shared.withLock { $0.core = core } }

    /// - Throws: `ThreadError` when the system has no thread for it.
    func start() throws {
        host.submit { [self] in
            for index in 0..<count { hire(index) }
            tell(.attached(coordinator.welcome(), sameCoordinator: false))
        }
        clock.watch { [weak self] in self?.host.submit {} }
        try host.start { [weak self] in self?.turn() }
    }

    func stop() {
        host.submit { [self] in hosts = [:] }
        host.stop()
        shared.withLock { $0.core = nil }
    }

    func starts(of path: String) -> Int { shared.withLock { $0.starts[path] ?? 0 } }
    var date: Date { Date(timeIntervalSince1970: Double(now.wall) / 1_000) }
    var crashes: (workers: Int, coordinators: Int) { shared.withLock { $0.crashes } }

    func enter() { shared.withLock { $0.entered = $0.life } }

    /// A message of the client.
    func send(_ message: WirePeerMessage) {
        let meant = shared.withLock { $0.entered }
        take { hub in if hub.life == meant { hub.receive(message, from: hub.client) } }
    }

    private var life: UInt64 { shared.withLock { $0.life } }

    /// Something comes from the program: time does not go on before it was looked at.
    private func take(_ job: @escaping @Sendable (MemoryHub) -> Void) {
        shared.withLock { $0.underWay += 1 }
        host.submit { [self] in
            job(self)
            hasNews = true
            shared.withLock { $0.underWay -= 1 }
        }
    }

    private func receive(_ message: WirePeerMessage, from peer: UInt64) {
        deliver(coordinator.receive(message, from: peer, at: now))
    }

    private func tell(_ event: PeerLink.Event) { shared.withLock { $0.core }?.handle(event) }

    // MARK: Registering

    func register(_ type: any ClusterOperation.Type, make: (@Sendable (Data) throws -> any ClusterOperation)?) async throws {
        try await change { try $0.register(type, make: make) }
    }

    func register(_ type: any ClusterCondition.Type) async throws { try await change { try $0.register(type) } }

    private func change(_ change: @escaping @Sendable (MemoryHost) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            host.submit { [self] in
                continuation.resume(with: Result { try change(host) })
                for worker in workers.values { worker.renew() }
                for (peer, worker) in workers.sorted(by: { $0.key < $1.key }) { attach(worker, insteadOf: peer) }
            }
        }
    }

    // MARK: The program's own bodies

    var readings: (boot: Int64, wall: Int64) { (now.boot, now.wall) }

    func lookAgain() { host.submit {} }

    func attach(_ peer: any MemoryPeer, incarnation: UInt64) -> any MessageCarrier {
        let hosting = MemoryHosting(peer, incarnation: incarnation) { [weak self] in
            self?.life ?? 0
        } carry: { [weak self] hosting, message, life in
            self?.take { hub in hub.receive(message, of: hosting, life) }
        }
        take { $0.attach(hosting) }
        return hosting
    }

    private func attach(_ hosting: MemoryHosting) {
        guard let hello = hosting.hello else { return }
        do {
            hosts[try coordinator.attach(hello)] = hosting
        } catch {
            preconditionFailure("the program is refused in memory: \(error)")
        }
    }

    /// What the program has let go of without a word is heard no more.
    private func dropDeserted() {
        let deserted = hosts.keys.sorted().filter { hosts[$0]?.peer == nil }
        // Its last words may be on their way.
        guard !deserted.isEmpty, shared.withLock({ $0.underWay }) == 0 else { return }
        for peer in deserted {
            hosts[peer] = nil
            coordinator.disconnect(peer)
        }
    }

    private func receive(_ message: WirePeerMessage, of hosting: MemoryHosting, _ meant: UInt64) {
        guard let peer = hosts.first(where: { $0.value === hosting })?.key else { return }
        if case .goodbye? = message.body {
            hosts[peer] = nil
        } else if meant != life {
            // What was sent to a coordinator that has crashed is lost.
            return
        }
        receive(message, from: peer)
    }

    // MARK: Workers

    private var now: Instant {
        let (seconds, attoseconds) = clock.now.elapsed.components
        let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        return Instant(boot: milliseconds, wall: Self.firstDay + milliseconds)
    }

    private func hire(_ index: Int) {
        let worker = MemoryWorker(
            index, on: host, slots: slots, incarnation: random.next() | 1,
            clock: { [unowned self] in (now.boot, now.wall) },
            begun: { [unowned self] path in
                if draw(\.workerCrash) { doomed += 1 }
                shared.withLock { $0.starts[path, default: 0] += 1 }
            },
            send: { [unowned self] worker, message in receive(message, of: worker) })
        attach(worker, insteadOf: nil)
    }

    private func attach(_ worker: MemoryWorker, insteadOf peer: UInt64?) {
        if let peer { workers[peer] = nil }
        worker.detach()
        do {
            workers[try coordinator.attach(worker.hello())] = worker
            hasNews = true
        } catch {
            preconditionFailure("a worker in memory is refused: \(error)")
        }
    }

    private func receive(_ message: WirePeerMessage, of worker: MemoryWorker) {
        guard let peer = workers.first(where: { $0.value === worker })?.key else { return }
        hasNews = true
        receive(message, from: peer)
    }

    /// Those who are there, always in the same order.
    private var inOrder: [MemoryWorker] { workers.sorted { $0.key < $1.key }.map(\.value) }

    private func crash(_ peer: UInt64) {
        // What it says before it crashes is heard.
        workers[peer]?.flush()
        guard let worker = workers.removeValue(forKey: peer) else { return }
        worker.die()
        dying.append((peer, worker))
        shared.withLock { $0.crashes.workers += 1 }
        buryTheDead()
    }

    private func buryTheDead() {
        for (peer, worker) in dying where worker.bodyCount == 0 {
            coordinator.died(peer, incarnation: worker.incarnation)
            hire(worker.index)
        }
        dying.removeAll { $0.worker.bodyCount == 0 }
    }

    // MARK: Turns

    /// Does what there is to do; if there is nothing, and every body waits, time goes on.
    private func turn() {
        work()
        // What has come meanwhile is looked at first.
        if goOn() { host.submit {} }
    }

    private func work() {
        buryTheDead()
        dropDeserted()
        while true {
            for worker in inOrder { worker.flush() }
            guard hasNews || coordinator.hasInputs else { break }
            hasNews = false
            coordinator.step(at: now)
            if coordinator.hasUnwritten, draw(\.coordinatorCrash) {
                restartCoordinator()
                continue
            }
            deliver(coordinator.sync())
            crashWorkers()
        }
        for worker in workers.values where worker.isStuck { crash(peer(of: worker)) }
    }

    private func peer(of worker: MemoryWorker) -> UInt64 { workers.first { $0.value === worker }?.key ?? 0 }

    private func deliver(_ deliveries: [MemoryCoordinator.Delivery]) {
        for delivery in deliveries {
            guard case .message(let message) = delivery.content else { continue }
            if delivery.peer == client {
                tell(.message(message, attachment: nil))
            } else if let worker = workers[delivery.peer] {
                worker.receive(message)
            } else {
                hosts[delivery.peer]?.receive(message)
            }
        }
    }

    private func goOn() -> Bool {
        if hasNews || coordinator.hasInputs { return true }
        let peers = hosts.sorted { $0.key < $1.key }.compactMap { $0.value.peer }
        let hosted = peers.reduce(0) { $0 + $1.openCount }
        let running = workers.values.reduce(hosted) { $0 + $1.bodyCount } + dying.reduce(0) { $0 + $1.worker.bodyCount }
        // Who reads what another one sends waits for that: the coordinator has looked at all questions.
        let reading = peers.reduce(clock.sleeperCount) { $0 + $1.readerCount }
        let waiting = workers.values.reduce(reading) { $0 + $1.readerCount }
        // In this order: who has ended something has sent that before.
        guard running <= waiting, !isStopping, !isSending, shared.withLock({ $0.underWay }) == 0 else {
            return false
        }
        // Where nothing is to be done, leases need no watching.
        guard coordinator.hasWork || clock.sleeperCount > 0 else { return false }
        let deadlines = ([coordinator.wakeAt] + workers.values.map(\.deadline) + peers.map { $0.deadline }).compactMap(\.self)
        let due = [clock.nextDue, deadlines.min().map { VirtualClock.Instant(elapsed: .milliseconds($0)) }].compactMap(\.self).min()
        guard let due else { return false }
        let before = clock.now
        clock.advance(to: due)
        for worker in inOrder { worker.tick() }
        for peer in peers { peer.tick() }
        for worker in inOrder { worker.flush() }
        hasNews = hasNews || (coordinator.wakeAt ?? .max) <= now.boot
        // What was due may have nothing to say, and nobody else would let time go on.
        return hasNews || coordinator.hasInputs || clock.now > before
    }

    /// Something that was said is on its way.
    private var isSending: Bool { workers.values.contains { $0.isSending } || hosts.values.contains { $0.peer?.isSending == true } }

    /// A body is being told to stop: it may be about to end.
    private var isStopping: Bool {
        workers.values.contains { $0.isStopping } || dying.contains { $0.worker.isStopping }
            || hosts.values.contains { $0.peer?.isStopping == true }
    }

    // MARK: Faults

    private func crashWorkers() {
        while doomed > 0 {
            doomed -= 1
            if let peer = workers.keys.sorted().randomElement(using: &random) { crash(peer) }
        }
    }

    private func restartCoordinator() {
        shared.withLock {
            $0.crashes.coordinators += 1
            $0.life += 1
        }
        tell(.detached(reason: "the coordinator has crashed"))
        do {
            try coordinator.crash(at: now, incarnation: random.next() | 1)
        } catch {
            preconditionFailure("the journal of a cluster in memory cannot be folded: \(error)")
        }
        client = coordinator.connect()
        let left = inOrder
        workers = [:]
        for worker in left { attach(worker, insteadOf: nil) }
        let hosted = hosts.sorted { $0.key < $1.key }.map(\.value)
        hosts = [:]
        for hosting in hosted {
            hosting.peer?.tell(.detached(reason: "the coordinator has crashed"))
            attach(hosting)
        }
        tell(.attached(coordinator.welcome(), sameCoordinator: false))
    }

    /// Whether a fault happens now: one in so many times.
    private func draw(_ rate: KeyPath<InMemoryCluster.Fault, Int?>) -> Bool {
        faults.compactMap { $0[keyPath: rate] }.reduce(false) { isDrawn, every in
            random.next().isMultiple(of: UInt64(max(1, every))) || isDrawn
        }
    }
}

extension InMemoryCluster.Fault {
    fileprivate var workerCrash: Int? { if case .workerCrash(let every) = self { every } else { nil } }
    fileprivate var coordinatorCrash: Int? { if case .coordinatorCrash(let every) = self { every } else { nil } }
}
