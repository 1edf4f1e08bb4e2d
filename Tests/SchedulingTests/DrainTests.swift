import Scheduling
import Testing

/// `aop workers drain`, `resume`, `remove` and `show`.
@Suite struct DrainTests {
    private struct Unexpected: Error {}

    private func steer(
        _ request: Request, _ cluster: inout FakeCluster
    ) throws -> (
        name: String, changed: Bool, states: [WorkerView.State]
    ) {
        switch cluster.ask(request) {
        case .workerSteered(let name, let isChange, let views)?: return (name, isChange, views.map(\.state))
        case let other:
            Issue.record("\(request) is answered with \(String(describing: other))")
            throw Unexpected()
        }
    }

    private func failure(_ request: Request, _ cluster: inout FakeCluster) -> RequestFailure? {
        if case .failed(let failure)? = cluster.ask(request) { failure } else { nil }
    }

    private func states(_ cluster: inout FakeCluster) -> [WorkerView.State] {
        guard case .workers(let workers)? = cluster.ask(.workers) else { return [] }
        return workers.map(\.state)
    }

    @discardableResult
    private func drain(_ name: String, _ cluster: inout FakeCluster) throws -> Bool {
        try steer(.drainWorker(name: name, reason: "new disks"), &cluster).changed
    }

    @discardableResult
    private func resume(_ name: String, _ cluster: inout FakeCluster) throws -> Bool {
        try steer(.resumeWorker(name: name), &cluster).changed
    }

    // MARK: What it is given

    @Test func drainedWorker_getsNothingNew_whatItRunsGoesOn_andWhatItHasNotBegunGoesElsewhere() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 3)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b"), .op("c"), .op("d")]).graph())
        cluster.begin("a")
        let drained = try steer(.drainWorker(name: "h/1", reason: ""), &cluster)
        #expect(drained.name == "h/1" && drained.changed && drained.states == [.draining])
        #expect(cluster.stops.map(\.reason) == [.recalled, .recalled])
        cluster.giveBackRecalled()
        #expect(cluster.held[1]?.map(\.path) == ["a"])
        cluster.attach(2, slots: 9)
        #expect(Set(cluster.held[2]?.map(\.path) ?? []) == ["b", "c", "d"])
        #expect(states(&cluster) == [.draining, .attached])
        cluster.end("a")
        #expect(states(&cluster) == [.drained, .attached])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.dispatched.count { $0 == "a" } == 1)
        #expect(try drain("h/1", &cluster) == false)
    }

    @Test func drain_survivesTheCoordinatorAndTheWorker_alsoUnderAnotherNumber() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        try drain("h/1", &cluster)
        try cluster.restart()
        #expect(states(&cluster) == [.drained])
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        #expect(cluster.heldPaths == [])
        cluster.die(1)
        cluster.attach(11, name: "h/1")
        // Its name is taken: it is called otherwise, and is the one that was meant.
        cluster.attach(12, name: "h/1")
        #expect(cluster.heldPaths == [])
        #expect(states(&cluster) == [.drained, .drained])
        try cluster.restart()
        for executor in [11, 12] { cluster.attach(executor, name: "h/1") }
        #expect(cluster.heldPaths == [])
        #expect(try resume("h/1", &cluster))
        #expect(try resume("h/1", &cluster) == false)
        #expect(cluster.held[11]?.count == 1 && cluster.held[12]?.count == 1)
        #expect(states(&cluster) == [.attached, .attached])
    }

    @Test func whatWaitsInAProcessThatComesBack_isRecalled() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        cluster.begin("a")
        let (a, b) = (try #require(cluster.find("a", on: 1)?.1), try #require(cluster.find("b", on: 1)?.1))
        cluster.disconnect(1)
        try drain("h/1", &cluster)
        cluster.attach(
            1, slots: 2,
            held: [.init(unit: a.unit, attempt: a.attempt, state: .running), .init(unit: b.unit, attempt: b.attempt, state: .queued)])
        #expect(cluster.stops.map(\.attempt) == [b.attempt] && cluster.stops.map(\.reason) == [.recalled])
        cluster.giveBackRecalled()
        cluster.attach(2)
        #expect(cluster.held[2]?.map(\.path) == ["b"])
    }

    @Test func worker_keepsNoLocksForWhatItIsNotGivenAnyMore() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("x"), .keyed("a", "db")]).graph())
        cluster.begin("x")
        func holders() -> Int {
            guard case .locks(let locks, _)? = cluster.ask(.locks(key: "db", from: 0)) else { return -1 }
            return locks.first?.holderCount ?? 0
        }
        #expect(holders() == 1)
        try drain("h/1", &cluster)
        #expect(holders() == 0)
        cluster.attach(2)
        #expect(cluster.held[2]?.map(\.path) == ["a"])
    }

    @Test func drainedWorkers_areCountedAsDraining() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(2)
        try drain("h/2", &cluster)
        let standing = cluster.scheduler.standing()
        #expect(standing.attachedWorkers == 1 && standing.drainingWorkers == 1)
    }

    // MARK: What is said of it

    @Test func whatWaitsForADrainedWorker_isExplained_withTheCommandThatHelps() throws {
        var cluster = FakeCluster()
        cluster.attach(1, operations: ["rare"])
        cluster.attach(2)
        let ann = Authority(principal: "ann", roles: ["admin"], maySubmit: true, mayObserve: true, mayAdminister: true)
        guard case .workerSteered? = cluster.ask(.drainWorker(name: "h/1", reason: "new disks"), by: ann) else { throw Unexpected() }
        let since = cluster.now.wall
        cluster.submit(Sketch.group("root", [.op("a", type: "rare")]).graph())
        let explained = try cluster.explained("a")
        #expect(explained.blockers.count == 1)
        guard case .worker(let wait)? = explained.blockers.first else { throw Unexpected() }
        #expect(wait.absent == [])
        #expect(wait.reason == .drained(worker: "h/1", WorkerDrain(by: "ann", reason: "new disks", since: since), others: 0))
        let text = explained.blockers[0].text(now: explained.at)
        #expect(text.hasPrefix("no worker that is there could take it but h/1, which is drained since "), "\(text)")
        #expect(text.hasSuffix(" by `ann`: new disks"), "\(text)")
        #expect(
            explained.blockers.map { $0.remedy(for: "") } == [
                "`aop workers resume h/1` lets it take work again; or start another worker"
            ])
        #expect(cluster.operations().first { $0.path == "a" }?.waiting?.text.contains("`aop workers resume h/1`") == true)
        // One that is not drained could take it as well: it is not that.
        cluster.attach(3, operations: ["rare"])
        #expect(cluster.held[3]?.map(\.path) == ["a"])
    }

    @Test func shownWorker_namesWhatItHas_andWhoDrainedIt() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2, operations: [OperationSignature(name: "noop", version: 3, oldestVersion: 2)])
        let id = cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph()) ?? ""
        cluster.begin("a")
        try drain("h/1", &cluster)
        guard case .workers(let views)? = cluster.ask(.worker(name: "h/1")), let view = views.first, let detail = view.detail else {
            throw Unexpected()
        }
        #expect(views.count == 1 && view.state == .draining && view.running == 1)
        #expect(view.drain == WorkerDrain(by: "", reason: "new disks", since: cluster.now.wall))
        #expect(detail.held.map(\.operation) == ["\(id)/a", "\(id)/b"] && detail.held.map(\.state) == [.running, .queued])
        #expect(detail.heldCount == 2 && detail.signatures.map(\.version) == [3] && detail.conditions == ["probe"])
        cluster.disconnect(1)
        cluster.advance(4_000)
        guard case .workers(let gone)? = cluster.ask(.worker(name: "h/1")) else { throw Unexpected() }
        #expect(gone.map(\.state) == [.silent])
        #expect(gone.first?.detail?.mayRunUntil ?? 0 > cluster.now.wall)
    }

    // MARK: Which one is meant

    @Test func names_areWhole_orUniquePrefixes() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(12)
        cluster.attach(9, isSubmitter: true)
        guard case .notFound(let unknown)? = failure(.drainWorker(name: "g/1", reason: ""), &cluster) else { throw Unexpected() }
        #expect(unknown == "no worker `g/1` is known; `aop workers` lists those there are")
        for request: Request in [.resumeWorker(name: "g/1"), .removeWorker(name: "g/1"), .worker(name: "g/1"), .worker(name: "")] {
            guard case .notFound? = failure(request, &cluster) else { throw Unexpected() }
        }
        guard case .ambiguous(let several)? = failure(.drainWorker(name: "h/", reason: ""), &cluster) else { throw Unexpected() }
        #expect(several == "`h/` fits 2 workers (h/1, h/12); give more of the name")
        guard case .notFound? = failure(.drainWorker(name: "h/9", reason: ""), &cluster) else { throw Unexpected() }
        #expect(try steer(.drainWorker(name: "h/1", reason: ""), &cluster).name == "h/1")
        #expect(try steer(.drainWorker(name: "h/12", reason: ""), &cluster).name == "h/12")
        cluster.attach(20, name: "h/20")
        #expect(try steer(.drainWorker(name: "h/2", reason: ""), &cluster).name == "h/20")
    }

    @Test func drainingAndRemoving_takeTheRoleAdmin_andLooking_observe() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let eve = Authority(principal: "eve", roles: ["observe"], maySubmit: false, mayObserve: true, mayAdminister: false)
        let ann = Authority(principal: "ann", roles: ["submit"], maySubmit: true, mayObserve: false, mayAdminister: false)
        for (request, verb): (Request, String) in [
            (.drainWorker(name: "h/1", reason: ""), "drain workers"), (.resumeWorker(name: "h/1"), "resume workers"),
            (.removeWorker(name: "h/1"), "remove workers"),
        ] {
            for authority in [eve, ann] {
                guard case .failed(.notPermitted(let text))? = cluster.ask(request, by: authority) else { throw Unexpected() }
                #expect(text.contains("may not \(verb); that takes the role `admin`"), "\(text)")
            }
        }
        guard case .workers? = cluster.ask(.worker(name: "h/1"), by: eve) else { throw Unexpected() }
        guard case .failed(.notPermitted)? = cluster.ask(.worker(name: "h/1"), by: ann) else { throw Unexpected() }
        #expect(states(&cluster) == [.attached])
    }

    // MARK: One that is gone

    @Test func worker_isRemovedOnlyWhenNothingCanRunInIt() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        // What runs under a key has to have stopped before it moves.
        cluster.submit(Sketch.group("root", [.keyed("a", "db")]).graph())
        cluster.begin("a")
        try drain("h/1", &cluster)
        func refusal() throws -> String {
            guard case .refused(let text, _)? = failure(.removeWorker(name: "h/1"), &cluster) else { throw Unexpected() }
            return text
        }
        #expect(try refusal() == "worker h/1 is connected; stop its `aop worker` first, then remove it")
        cluster.disconnect(1)
        #expect(try refusal().hasPrefix("worker h/1 may come back within its lease"))
        cluster.advance(4_000)
        #expect(try refusal().contains("something may still run in it; by "))
        #expect(cluster.state("a") == .running)
        cluster.advance(17_000)
        #expect(cluster.state("a") == .queued)
        #expect(try steer(.removeWorker(name: "h/1"), &cluster).changed)
        #expect(states(&cluster) == [])
        guard case .notFound? = failure(.worker(name: "h/1"), &cluster) else { throw Unexpected() }
        #expect(try steer(.removeWorker(name: "h/1"), &cluster).changed == false)
        try cluster.restart()
        guard case .notFound? = failure(.drainWorker(name: "h/1", reason: ""), &cluster) else { throw Unexpected() }
        // It was not dead after all: it is known again, takes work, and what it ran is not its any more.
        cluster.reattach(1)
        #expect(states(&cluster) == [.attached])
        #expect(cluster.held[1]?.map(\.path) == ["a"])
        #expect(try drain("h/1", &cluster))
        #expect(states(&cluster) == [.draining])
    }

    @Test func drainedWorkerThatIsGone_isListed_untilItIsRemoved() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        try drain("h/1", &cluster)
        cluster.depart(1)
        #expect(states(&cluster) == [.drained])
        #expect(try steer(.removeWorker(name: "h/1"), &cluster).changed)
        #expect(states(&cluster) == [])
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.attach(2, name: "h/1")
        #expect(cluster.heldPaths == ["a"])
    }

    /// What may have begun in a process that was told to give it back counts as lost where it is lost.
    @Test func coordinatorThatDies_whileAWorkerGivesBack_losesNothing() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        cluster.begin("a")
        try drain("h/1", &cluster)
        try cluster.restart()
        cluster.reattach(1, slots: 2)
        #expect(cluster.held[1]?.map(\.path) == ["a", "b"])
        cluster.attach(2, slots: 2)
        #expect(cluster.held[2] == nil)
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(states(&cluster) == [.drained, .attached])
    }
}
