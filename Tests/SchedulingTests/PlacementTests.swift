import Scheduling
import Testing

/// `requires`: where units may run, and what they take there.
@Suite struct PlacementTests {
    private func host(_ supervisor: UInt64 = 1, labels: [String] = [], _ resources: [String: Int64] = [:]) -> FakeHost {
        FakeHost(supervisor: supervisor, labels: labels, resources: resources.map { ResourceAmount(name: $0.key, amount: $0.value) })
    }

    private func host(_ resources: [String: Int64]) -> FakeHost { host(1, resources) }

    private func taking(
        _ id: String, gpus: Int64, priority: Int? = nil, exclusive: [Exclusion] = [], retries: Int = 0, type: String = "noop"
    ) -> Sketch {
        Sketch.op(id, type: type, retries: retries, exclusive: exclusive).having {
            $0.requires = Requirements(resources: [ResourceAmount(name: "gpus", amount: gpus)])
            $0.priority = priority
        }
    }

    private func labelled(_ id: String, _ labels: String...) -> Sketch {
        Sketch.op(id).having { $0.requires = Requirements(labels: labels) }
    }

    private func indices(_ path: String, of cluster: FakeCluster) -> [Int]? { cluster.find(path, on: nil)?.1.resources.first?.indices }

    /// The process that submitted it evaluates its condition, and has nothing that is counted.
    @Test func evaluationAtTheSubmitter_takesNothing() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 9, host: host(["gpus": 1]))
        cluster.attach(HostingTests.here, slots: 9, operations: [], isSubmitter: true)
        let condition = Condition(.probe(Probe(type: "BlockCondition", parameters: 0, isHosted: true)))
        let asked = Sketch.op("a").having {
            $0.requires = Requirements(resources: [ResourceAmount(name: "gpus", amount: 1)])
            $0.conditions = [condition]
        }
        cluster.submit(Sketch.group("root", [asked]).graph(), submitter: HostingTests.here)
        let evaluation = try #require(cluster.find("a", on: HostingTests.here)).1
        #expect(evaluation.kind == .evaluate && evaluation.resources.isEmpty)
        cluster.end("a", on: HostingTests.here)
        #expect(indices("a", of: cluster) == [0])
    }

    @Test func labels_sayWhere_andHoldUpNobodyElse() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [labelled("a", "fast", "zone=a"), .op("b"), labelled("c", "fast")]).graph())
        cluster.attach(1, slots: 9, host: host(labels: ["zone=a"]))
        #expect(cluster.heldPaths == ["b"])
        cluster.attach(2, slots: 9, host: host(2, labels: ["fast"]))
        #expect(cluster.find("c", on: 2) != nil)
        #expect(cluster.operations().first { $0.path == "a" }?.waiting?.kind == .worker)
        cluster.attach(3, slots: 9, host: host(3, labels: ["fast", "zone=a"]))
        #expect(cluster.find("a", on: 3) != nil)
    }

    @Test func resources_areSharedByTheExecutorsOfASupervisor_andNumbered() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 9, host: host(["gpus": 3]))
        cluster.attach(2, slots: 9, host: host(["gpus": 3]))
        cluster.submit(Sketch.group("root", [taking("a", gpus: 2), taking("b", gpus: 1), taking("c", gpus: 1), .op("d")]).graph())
        #expect(Set(cluster.heldPaths) == ["a", "b", "d"])
        #expect(indices("a", of: cluster) == [0, 1])
        #expect(indices("b", of: cluster) == [2])
        cluster.attach(3, slots: 1, host: host(2, ["gpus": 1]))
        #expect(indices("c", of: cluster) == [0])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func resources_areGivenBack_whenTheBodyIsOver_notBefore() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 9, host: host(["gpus": 2]))
        cluster.submit(Sketch.group("root", [taking("a", gpus: 2), taking("b", gpus: 1)]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        #expect(cluster.state("a") == .stopping)
        #expect(cluster.heldPaths == ["a"])
        #expect(
            cluster.operations().first { $0.path == "b" }?.waiting
                == WaitingView(kind: .resources, text: "waits for 1 gpu; on h 0 of 2 gpus are free"))
        cluster.end("a", .stopped)
        #expect(cluster.heldPaths == ["b"])
        #expect(cluster.operations().first { $0.path == "b" }?.waiting == nil)
    }

    @Test func memory_isCounted_andHasNoNumbers() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 9, host: host(["memory": 3 << 30, "gpus": 1]))
        let graph = Sketch.group(
            "root",
            (0..<3).map { index in
                Sketch.op("o\(index)").having {
                    $0.requires = Requirements(resources: [ResourceAmount(name: "memory", amount: 3 << 29)])
                }
            })
        cluster.submit(graph.graph())
        #expect(cluster.heldPaths == ["o0", "o1"])
        #expect(indices("o0", of: cluster) == [])
        #expect(
            cluster.operations().last?.waiting?.text == "waits for 1.5 GiB of memory; on h 0 bytes of 3 GiB of memory are free")
        guard case .workers(let workers)? = cluster.ask(.workers) else { return }
        #expect(
            workers.first?.resources == [
                ResourceView(name: "gpus", amount: 1, taken: 0), ResourceView(name: "memory", amount: 3 << 30, taken: 3 << 30),
            ])
    }

    @Test func whatAttemptsHave_survivesARestart_andIsNotGivenToOthersBeforeTheyAreBack() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2, host: host(["gpus": 3]))
        cluster.attach(2, slots: 2, host: host(["gpus": 3]))
        cluster.submit(Sketch.group("root", [taking("a", gpus: 1), taking("b", gpus: 1)]).graph())
        cluster.submit(Sketch.group("root", [taking("c", gpus: 2)]).graph(), key: "c")
        #expect(Set(cluster.heldPaths) == ["a", "b"])
        let owner = try #require(cluster.find("b", on: nil)).0
        try cluster.restart()
        cluster.reattach(3 - owner, slots: 2)
        #expect(!cluster.holds("c"))
        cluster.reattach(owner, slots: 2)
        cluster.end("a")
        #expect(indices("c", of: cluster) == [0, 2])
    }

    @Test func lostAttempt_givesItsResourcesBack() {
        var cluster = FakeCluster()
        cluster.attach(1, host: host(["gpus": 1]))
        cluster.attach(2, host: host(["gpus": 1]))
        cluster.submit(Sketch.group("root", [taking("a", gpus: 1), taking("b", gpus: 1)]).graph())
        let owner = cluster.find("a", on: nil)?.0 ?? 0
        cluster.die(owner, crashed: false)
        let other = 3 - owner
        #expect(cluster.held[other]?.count == 1)
        // Cut off, and its lease over: somebody else on the host gets what it had.
        cluster.disconnect(other)
        cluster.attach(4, host: host(["gpus": 1]))
        #expect(cluster.held[4] == nil)
        cluster.advance(3_100)
        #expect(cluster.held[4]?.count == 1)
    }

    @Test func groupsHandOnWhatTheyRequire_andMembersMayTakeItBack() {
        var cluster = FakeCluster()
        let graph = Sketch.group(
            "root",
            [
                Sketch.group("g", [.op("all"), taking("less", gpus: 1), taking("none", gpus: 0)]).having {
                    $0.requires = Requirements(labels: ["fast"], resources: [ResourceAmount(name: "gpus", amount: 3)])
                }
            ])
        cluster.submit(graph.graph())
        cluster.attach(1, slots: 9, host: host(["gpus": 4]))
        #expect(cluster.heldPaths == [])
        cluster.attach(2, slots: 9, host: host(2, labels: ["fast"]))
        #expect(cluster.heldPaths == ["g/none"])
        cluster.attach(3, slots: 9, host: host(3, labels: ["fast"], ["gpus": 3]))
        #expect(indices("g/all", of: cluster) == [0, 1, 2])
        cluster.end("g/all")
        #expect(indices("g/less", of: cluster) == [0])
    }

    // MARK: Who goes first

    /// Units that need one of eight keep coming and going; the one that needs all gets its turn all the same.
    @Test(arguments: [0, 3, -3])
    func whatNeedsMuch_isNotStarvedByWhatNeedsLittle(priority: Int) {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4, host: host(["gpus": 8]))
        cluster.attach(2, slots: 4, host: host(["gpus": 8]))
        cluster.submit(Sketch.group("root", (0..<200).map { taking("small\($0)", gpus: 1) }).graph(), key: "a")
        cluster.submit(Sketch.group("root", [taking("big", gpus: 8, priority: priority)]).graph(), key: "b")
        let before = cluster.dispatched.count
        while !cluster.holds("big"), let next = cluster.heldPaths.first { cluster.end(next) }
        let passed = cluster.dispatched.count - before - 1
        #expect(passed <= 40, "\(passed) went before it")
        #expect(priority > 0 ? passed <= 1 : passed >= 7)
        cluster.drain()
        #expect(cluster.operations().allSatisfy { $0.state == .succeeded })
    }

    /// While a host is kept for one, others get there what it does not need, and all of other hosts.
    @Test func whatIsKeptForOne_holdsUpOnlyThoseThatNeedTheSame() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8, host: host(["gpus": 2, "licence": 5]))
        cluster.submit(Sketch.group("root", (0..<12).map { taking("small\($0)", gpus: 1) } + [taking("big", gpus: 2, priority: 1)]).graph())
        // `big` waits from the first on that went before it.
        let licensed = Sketch.op("licensed").having {
            $0.requires = Requirements(resources: [ResourceAmount(name: "licence", amount: 2)])
        }
        #expect(cluster.dispatched == ["big"])
        cluster.submit(Sketch.group("root", [licensed, .op("plain")]).graph(), key: "other")
        #expect(Set(cluster.heldPaths) == ["big", "licensed", "plain"])
        cluster.end("big")
        cluster.submit(Sketch.group("root", [taking("late", gpus: 2, priority: 1)]).graph(), key: "late")
        let text = cluster.operations().last?.waiting?.text
        #expect(text == "waits for 2 gpus; on h 0 of 2 gpus are free", "\(text ?? "")")
        cluster.end("small0")
        #expect(cluster.dispatched.last == "small2")
        cluster.end("small1")
        #expect(cluster.dispatched.last == "small2")
        #expect(cluster.operations().last?.waiting?.text == "waits for 2 gpus; on h 1 of 2 gpus are free, which are kept for it")
        cluster.attach(2, host: host(2, ["gpus": 1]))
        #expect(cluster.dispatched.last == "small3")
        cluster.end("small2")
        #expect(cluster.dispatched.last == "late")
    }

    /// It began elsewhere, and an executor that had nothing to do had been passed by before.
    @Test func whatWasKeptForOne_isOthersAtOnce_whenThatBeginsElsewhere() {
        var cluster = FakeCluster()
        for executor in 1...2 { cluster.attach(executor, slots: 1, host: host(["gpus": 2])) }
        cluster.attach(3, slots: 1, host: host(2, ["gpus": 2]))
        cluster.submit(Sketch.group("root", (0..<2).map { taking("small\($0)", gpus: 1) }).graph())
        cluster.submit(Sketch.group("root", [taking("large", gpus: 2)]).graph(), key: "large")
        cluster.submit(Sketch.group("root", (2..<5).map { taking("small\($0)", gpus: 1) }).graph(), key: "more")
        cluster.submit(Sketch.group("root", [taking("late", gpus: 2, priority: 1)]).graph(), key: "late")
        #expect(Set(cluster.heldPaths) == ["small0", "small1", "large"])
        cluster.end("small0")
        cluster.end("small1")
        #expect(Set(cluster.heldPaths) == ["small2", "large"])
        cluster.end("large")
        #expect(Set(cluster.heldPaths) == ["small2", "small3", "late"])
    }

    /// What runs alone takes what is kept for others; the rest of its class waits for that.
    @Test func whatIsKeptForOne_isNotSaidToBeInTheWayOfWhatRunsAlone() {
        var cluster = FakeCluster()
        let (alone, others) = clusterWithSuspect(gpus: 1, &cluster)
        let id = cluster.submit(Sketch.group("root", [taking("late", gpus: 2, priority: 1)]).graph(), key: "late") ?? ""
        cluster.end("x0")
        cluster.end("x1")
        #expect(cluster.holds("x2") && !cluster.holds("x3") && !cluster.holds("s"))
        #expect(cluster.operations(of: alone).first { $0.path == "s" }?.waiting == nil)
        let text = cluster.operations(of: others).last?.waiting?.text
        #expect(text == "waits for 1 gpu; on h 1 of 2 gpus are free, with 1 gpu kept for \(id)/late, which was passed over")
        cluster.end("plain")
        #expect(cluster.holds("s"))
    }

    @Test func whatIsKeptForOneThatRunsAlone_isSaidToBe() {
        var cluster = FakeCluster()
        let (alone, others) = clusterWithSuspect(gpus: 2, &cluster)
        cluster.end("plain")
        cluster.end("x0")
        #expect(Set(cluster.heldPaths) == ["busy", "x1"])
        let text = cluster.operations(of: others).last?.waiting?.text
        #expect(text == "waits for 1 gpu; on h 1 of 2 gpus are free, with 1 gpu kept for \(alone)/s, which is to run alone")
        cluster.end("x1")
        #expect(Set(cluster.heldPaths) == ["busy", "s"])
    }

    /// A process has died under `s`, for which one is kept that still has `plain`. Of four others that need one each, two run.
    private func clusterWithSuspect(gpus: Int64, _ cluster: inout FakeCluster) -> (alone: String, others: String) {
        for worker in [1, 2] { cluster.attach(worker, slots: 1, host: host(["gpus": 2])) }
        let alone = cluster.submit(Sketch.group("root", [taking("s", gpus: gpus), .op("plain")]).graph(), key: "s") ?? ""
        for path in ["s", "plain"] { cluster.begin(path) }
        // It has something to do, too: what runs alone would begin on it at once.
        cluster.attach(3, slots: 9, host: host(["gpus": 2]))
        cluster.submit(Sketch.group("root", [.op("busy")]).graph(), key: "busy")
        cluster.die(cluster.find("s", on: nil)?.0 ?? 0)
        let others = cluster.submit(Sketch.group("root", (0..<4).map { taking("x\($0)", gpus: 1) }).graph(), key: "x") ?? ""
        #expect(Set(cluster.heldPaths) == ["plain", "busy", "x0", "x1"])
        return (alone, others)
    }

    @Test func stoppedUnit_keepsNoHost() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8, host: host(["gpus": 2]))
        cluster.submit(Sketch.group("root", (0..<4).map { taking("small\($0)", gpus: 1) }).graph(), key: "a")
        cluster.submit(Sketch.group("root", [taking("big", gpus: 2, priority: 1)]).graph(), key: "b")
        cluster.end("small0")
        cluster.end("small1")
        #expect(cluster.heldPaths == ["small2"])
        _ = cluster.ask(.cancel(submission: "last", path: "big", reason: "", now: false))
        #expect(cluster.heldPaths == ["small2", "small3"])
    }

    /// What takes resources is never sent ahead of need: it would have them while it waits.
    @Test func shortOperations_areSentAhead_onlyWithoutResources() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1, host: host(["gpus": 9]))
        cluster.submit(Sketch.group("root", (0..<40).map { taking("o\($0)", gpus: 1) }).graph())
        for _ in 0..<20 {
            guard let next = cluster.heldPaths.first else { return }
            cluster.end(next)
            #expect(cluster.heldPaths.count == 1)
        }
    }

    @Test func suspect_runsAlone_withWhatItNeeds() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2, host: host(["gpus": 2]))
        cluster.attach(2, slots: 2, host: host(2, ["gpus": 1]))
        cluster.submit(Sketch.group("root", [taking("a", gpus: 2), .op("b"), .op("c")]).graph())
        let owner = cluster.find("a", on: nil)?.0 ?? 0
        #expect(owner == 1)
        cluster.die(1)
        cluster.attach(3, slots: 4, operations: ["small"], host: host(3, ["gpus": 2]))
        cluster.submit(Sketch.group("root", (0..<9).map { taking("small\($0)", gpus: 1, type: "small") }).graph(), key: "s")
        cluster.attach(4, slots: 4, host: host(3, ["gpus": 2]))
        #expect(!cluster.holds("a"))
        for _ in 0..<30 where !cluster.holds("a") {
            guard let next = cluster.heldPaths.first else { break }
            cluster.end(next)
        }
        #expect(cluster.held[4]?.map(\.path) == ["a"])
        cluster.drain()
        #expect(cluster.operations().allSatisfy { $0.state == .succeeded })
    }

    @Test func locks_areAskedFor_onlyWhereSomebodyHasTheResources() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 9, host: host(["gpus": 1]))
        cluster.submit(
            Sketch.group("root", [taking("a", gpus: 2, exclusive: [Exclusion(key: "k")]), .keyed("b", "k")]).graph(), key: "a",
            waitForWorkers: true)
        #expect(cluster.heldPaths == ["b"])
        cluster.end("b")
        cluster.attach(2, slots: 9, host: host(2, ["gpus": 2]))
        #expect(cluster.heldPaths == ["a"])
    }

    // MARK: Admission

    private func refusals(_ graph: Sketch, _ cluster: inout FakeCluster) -> [String] {
        guard case .checked(let errors)? = cluster.ask(.check(graph: graph.graph(), waitForWorkers: false)) else { return ["?"] }
        return errors.map { "\($0.path): \($0.message)" }
    }

    @Test func whatNoWorkerEverHad_isRefused_andTheLargestIsNamed() throws {
        var cluster = FakeCluster()
        let graph = Sketch.group(
            "root",
            [
                taking("a", gpus: 4), labelled("b", "slow"), taking("c", gpus: 2),
                Sketch.op("d").having {
                    $0.requires = Requirements(labels: ["fast"], resources: [ResourceAmount(name: "gpus", amount: 2)])
                },
                Sketch.op("e").having {
                    $0.requires = Requirements(
                        resources: [ResourceAmount(name: "memory", amount: 2 << 30), ResourceAmount(name: "licence", amount: 1)])
                },
            ])
        #expect(refusals(graph, &cluster).isEmpty == false)
        cluster = FakeCluster(
            {
                var configuration = Scheduler.Configuration(); configuration.builtInOperations = ["noop"]; return configuration
            }())
        #expect(refusals(graph, &cluster) == [])
        cluster.attach(1, host: host(["gpus": 2, "memory": 1 << 30]))
        cluster.attach(2, host: host(2, labels: ["fast"], ["gpus": 1]))
        cluster.die(1)
        cluster.die(2)
        try cluster.restart()
        let end = ", or submit with --wait-for-workers"
        #expect(
            refusals(graph, &cluster) == [
                "a: requires 4 gpus, and no worker that was ever there has it: the largest has 2 gpus; ask for less, start a worker with"
                    + " `--resource gpus=4`" + end,
                "b: requires the label `slow`, and no worker that was ever there has it: none has the label `slow`; ask for less, start a"
                    + " worker with `--label slow`" + end,
                "d: requires 2 gpus and the label `fast`, and no worker that was ever there has it: none has all of it together; ask for"
                    + " less, start a worker with `--resource gpus=2 --label fast`" + end,
                "e: requires 1 of `licence` and 2 GiB of memory, and no worker that was ever there has it: none has any `licence`,"
                    + " the largest has 1 GiB of memory; ask for less, start a worker with"
                    + " `--resource licence=1 --resource memory=2GiB`" + end,
            ])
        cluster.submit(graph.graph(), key: "waits", waitForWorkers: true)
    }

    @Test func malformedRequirements_areRefused() {
        let graph = Sketch.group(
            "root",
            [
                taking("a", gpus: -1),
                Sketch.op("b").having { $0.requires = Requirements(resources: [ResourceAmount(name: "GPU", amount: 1)]) },
                labelled("c", ""),
            ]
        ).graph()
        #expect(
            graph.faults().map(\.message) == [
                "requires -1 of `gpus`; it must be from 0 to 1125899906842624",
                "the name `GPU` of a resource must be lower-case letters, digits and `_`, a letter first",
                "requires a label of 0 bytes; it must have from 1 to 256",
            ])
    }

    @Test func waiting_namesWhatIsMissing() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [taking("a", gpus: 1), .op("b", type: "other")]).graph())
        #expect(cluster.operations().compactMap(\.waiting?.text) == ["no worker is there", "no worker is there"])
        cluster.attach(1, host: host())
        #expect(
            cluster.operations().compactMap(\.waiting?.text) == [
                "no worker that is there has 1 gpu", "no worker that is there has the operation `other`",
            ])
    }
}
