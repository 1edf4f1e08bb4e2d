import Scheduling
import Testing

/// What keeps workers, and the process that submitted it, from taking what could start otherwise.
@Suite struct ExplainPlacementTests {
    private func wait(_ path: String, _ cluster: inout FakeCluster) -> WorkerWait? {
        guard case .worker(let wait)? = cluster.explain(path)?.blockers.first else { return nil }
        return wait
    }

    private func slots(_ path: String, _ cluster: inout FakeCluster) -> SlotWait? {
        for blocker in cluster.explain(path)?.blockers ?? [] {
            if case .slots(let wait) = blocker { return wait }
        }
        return nil
    }

    @Test func worker_isMissing_itsTypeVersionLabelResourceOrCondition() throws {
        var cluster = FakeCluster()
        let label = Sketch.op("label").having { $0.requires = Requirements(labels: ["fast"]) }
        let resource = Sketch.op("resource").having { $0.requires = Requirements(resources: [ResourceAmount(name: "gpus", amount: 9)]) }
        let condition = Sketch.op("condition").having { $0.conditions = [Condition(.probe(Probe(type: "unheard", parameters: 0)))] }
        var graph = Sketch.group("root", [.op("type", type: "rare"), .op("version"), label, resource, condition]).graph()
        graph.nodes[2].kind = .operation(OperationNode(type: "noop", version: 7, parameters: 0))
        cluster.submit(graph)
        #expect(wait("type", &cluster)?.reason == .noWorker)
        cluster.attach(2, host: FakeHost(supervisor: 1, resources: [ResourceAmount(name: "gpus", amount: 2)]))
        #expect(wait("type", &cluster)?.reason == .operation("rare"))
        #expect(wait("version", &cluster)?.reason == .version(7, of: "noop"))
        #expect(wait("label", &cluster)?.reason == .requirements(Requirements(labels: ["fast"])))
        let lacking = try cluster.explained("resource")
        #expect(lacking.blockers.map { $0.text(now: lacking.at) } == ["no worker that is there has 9 gpus"])
        #expect(lacking.blockers.map { $0.remedy(for: "") } == ["start one with `aop worker --resource gpus=9`"])
        #expect(wait("condition", &cluster)?.reason == .condition("unheard"))
        #expect(lacking.state == .queued)
    }

    @Test func workersThatDrainOrAreNotHeard_areNamed() throws {
        var cluster = FakeCluster()
        cluster.attach(1, operations: ["rare"])
        cluster.submit(Sketch.group("root", [.op("a", type: "rare"), .op("b", type: "rare")]).graph())
        cluster.begin("a")
        cluster.step([.draining(try #require(cluster.peers[1]))])
        #expect(wait("b", &cluster)?.absent == [WorkerWait.Absentee(worker: "h/1")])
        cluster.disconnect(1)
        let heard = cluster.now.wall
        guard case .unheard(let worker, let since, let until)? = wait("a", &cluster)?.reason else { return #expect(Bool(false)) }
        #expect(worker == "h/1" && since == heard && until == heard + cluster.configuration.leaseMilliseconds)
        #expect(cluster.explain("a")?.state == .running)
    }

    @Test func workerThatHasNotComeBack_afterARestart_isNamed() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.begin("a")
        try cluster.restart()
        let explained = try cluster.explained("a")
        guard case .worker(let wait)? = explained.blockers.first, case .unheard("h/1", since: 0, let until) = wait.reason else {
            return #expect(Bool(false), "\(explained)")
        }
        #expect(until > explained.at && explained.state == .queued)
        #expect(
            explained.blockers[0].text(now: explained.at).hasPrefix("is on h/1, which has not come back since the coordinator started; by ")
        )
        cluster.reattach(1)
        #expect(cluster.explain("a")?.blockers == [])
    }

    @Test func groupThatCannotAskForItsLocks_namesWhatInItNobodyCouldRun() {
        var cluster = FakeCluster()
        cluster.attach(1)
        let id = cluster.submit(Sketch.group("root", [.holding("g", "k", [.op("x"), .op("y", type: "rare")])]).graph()) ?? ""
        #expect(wait("g", &cluster) == WorkerWait(reason: .operation("rare"), operation: "\(id)/g/y", absent: []))
    }

    @Test func slots_areTaken_andThoseBeforeAreCounted() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1)
        cluster.submit(Sketch.group("root", (0..<4).map { .op("o\($0)") }).graph())
        cluster.begin("o0")
        let found = slots("o3", &cluster)
        let wait = try #require(found)
        #expect(wait.ahead == 2 && wait.takerCount == 1 && !wait.runsAlone)
        #expect(wait.takers.map(\.worker) == ["h/1"] && wait.takers.map(\.obstacle) == [.full] && wait.takers.map(\.taken) == [1])
        #expect(cluster.explain("o3")?.state == .queued)
        #expect(cluster.explain("o0")?.blockers == [])
        // What was given out is queued there.
        cluster.end("o0")
        #expect(slots("o1", &cluster)?.takers.map(\.obstacle) == [.queued])
    }

    @Test func resourcesThatAreTaken_areNamed_alsoWhereAllSlotsAre() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2, host: FakeHost(supervisor: 1, resources: [ResourceAmount(name: "gpus", amount: 1)]))
        func taking(_ id: String) -> Sketch {
            .op(id).having { $0.requires = Requirements(resources: [ResourceAmount(name: "gpus", amount: 1)]) }
        }
        cluster.submit(Sketch.group("root", [taking("a"), .op("b"), taking("c")]).graph())
        #expect(slots("c", &cluster)?.takers.map(\.obstacle) == [.resources("needs 1 gpu, and on h 0 of 1 gpu are free")])
        let explained = try cluster.explained("c")
        #expect(explained.blockers.first?.remedy(for: "c").contains("on another host that has them") == true)
    }

    @Test func resourcesThatAreTaken_areNamedWithWhatIsFree() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4, host: FakeHost(supervisor: 1, resources: [ResourceAmount(name: "gpus", amount: 2)]))
        let need = Requirements(resources: [ResourceAmount(name: "gpus", amount: 2)])
        cluster.submit(Sketch.group("root", ["a", "b"].map { Sketch.op($0).having { $0.requires = need } }).graph())
        #expect(slots("b", &cluster)?.takers.map(\.obstacle) == [.resources("needs 2 gpus, and on h 0 of 2 gpus are free")])
    }

    /// `late` needs both, and one of a lower priority went before it.
    @Test func resourcesThatAreKeptForAnotherOne_areNamedWithIt_toThoseWhoMayReadThat_only() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8, host: FakeHost(supervisor: 1, resources: [ResourceAmount(name: "gpus", amount: 2)]))
        func taking(_ id: String, gpus: Int64, priority: Int? = nil) -> Sketch {
            .op(id).having {
                $0.requires = Requirements(resources: [ResourceAmount(name: "gpus", amount: gpus)])
                $0.priority = priority
            }
        }
        let ann = Authority(principal: "ann", roles: ["submit"], maySubmit: true, mayObserve: false, mayAdminister: false)
        let small = Sketch.group("root", (0..<4).map { taking("small\($0)", gpus: 1) }).graph()
        let submit = Request.submit(key: "small", name: "", graph: ExaminedGraph(small), waitForWorkers: true)
        guard case .submitted(let anns, _)? = cluster.ask(submit, by: ann) else { return #expect(Bool(false)) }
        let id = cluster.submit(Sketch.group("root", [taking("late", gpus: 2, priority: 1)]).graph(), key: "late") ?? ""
        cluster.end("small0")
        cluster.end("small1")
        #expect(cluster.heldPaths == ["small2"])
        func told(_ reader: Authority) -> [String] {
            let query = OperationQuery(submission: anns, path: "", from: 0, limit: 0, withValues: false, failedOnly: false)
            guard case .explanation(let explanation)? = cluster.ask(.explain(submission: anns, path: "small3"), by: reader),
                case .operations(let views, _, _)? = cluster.ask(.operations(query), by: reader)
            else { return [] }
            return explanation.blockers.map { $0.text(now: explanation.at) } + [views.last?.waiting?.text ?? ""]
        }
        for (reader, keeper) in [(Authority.unlimited, "\(id)/late"), (ann, "another's operation")] {
            let spare = "on h 1 of 2 gpus are free, with 1 gpu kept for \(keeper), which was passed over"
            #expect(
                told(reader) == [
                    "the worker that could take it takes no more now (h/1 needs 1 gpu, and \(spare))",
                    "waits for 1 gpu; \(spare)",
                ])
        }
        #expect(cluster.operations(of: id).last?.waiting?.text == "waits for 2 gpus; on h 1 of 2 gpus are free, which are kept for it")
    }

    @Test func whatHasEndedAProcess_waitsForAWorkerThatIsEmpty() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.attach(2, slots: 2)
        cluster.submit(Sketch.group("root", (0..<4).map { .op("o\($0)") }).graph())
        for path in ["o0", "o1", "o2", "o3"] { cluster.begin(path) }
        let victims = cluster.held[1]?.map(\.path) ?? []
        cluster.die(1)
        #expect(victims.count == 2)
        #expect(slots(victims[0], &cluster)?.runsAlone == true)
    }

    @Test func submitterThatIsNotConnected_isNamedWithItsTime() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(70, operations: [], isSubmitter: true)
        let hosted = Sketch.op("h", type: "AOperationBlock", after: ["a"]).having { $0.isHosted = true }
        cluster.submit(Sketch.group("root", [.op("a"), hosted]).graph(), submitter: 70)
        let heard = cluster.now.wall
        cluster.disconnect(70)
        cluster.end("a")
        let due = heard + cluster.configuration.lockLeaseMilliseconds
        #expect(cluster.explain("h")?.blockers == [.submitter(SubmitterWait(name: "h/70", until: due))])
    }

    @Test func endInWhichTheSubmitterHasASay_isNamed() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(70, operations: [], isSubmitter: true)
        let held = Sketch.op("a").having { $0.say = SubmitterSay(holds: true) }
        cluster.submit(Sketch.group("root", [held]).graph(), submitter: 70)
        cluster.end("a", on: 1)
        #expect(cluster.explain("a")?.blockers == [.submitter(SubmitterWait(name: "h/70", until: nil))])
    }
}
