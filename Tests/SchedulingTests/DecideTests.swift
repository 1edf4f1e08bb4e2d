import Scheduling
import Testing

/// Groups that decide what they do next when something in them has ended.
@Suite struct DecideTests {
    private static let type = "brain"

    private func cluster(slots: Int = 8, operations: [OperationSignature] = ["noop", "brain"]) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: slots, operations: operations)
        return cluster
    }

    private func group(
        _ children: [Sketch], ordered: Bool = false, stop: Bool = false, max: Int = 0, retries: Int = 0,
        _ occasion: DeciderNode.Occasion = .eachChild
    ) -> Sketch {
        .deciding(
            .group("g", children, ordered: ordered, stop: stop, max: max, retries: retries),
            DeciderNode(type: Self.type, parameters: 0, occasion: occasion))
    }

    private let decider = "g/(decisions)"

    private func decided(_ tops: Sketch..., state: String? = nil, forgiven: [Int] = []) -> AttemptOutcome {
        .decided(
            GroupDecision(
                state: state.map { Array($0.utf8) }, addition: tops.isEmpty ? nil : .of(list: tops), forgiven: forgiven))
    }

    @Test func eachEnd_isDecidedOnce_inTheOrderOfTheEnds_oneAtATime() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a"), .op("b"), .op("c")])]).graph())
        cluster.end("g/c", .success(text("see")))
        cluster.end("g/a", failure("no"))
        #expect(cluster.heldPaths == ["g/b", decider])
        let first = try #require(cluster.find(decider, on: nil)?.1)
        #expect(first.kind == .decide && first.operation == Self.type)
        #expect(
            first.decision
                == DecisionQuestion(number: 1, child: "g/c", childUnit: 4, type: "noop", version: 0, parameters: Array("{}".utf8)))
        #expect(first.inputs == [.value(text("see"))])
        cluster.end(decider, decided())
        let second = try #require(cluster.find(decider, on: nil)?.1)
        #expect(second.decision?.child == "g/a" && second.decision?.number == 2)
        guard case .failure(let failures)? = second.inputs.first else { return #expect(Bool(false), "\(second.inputs)") }
        #expect(failures.map(\.message) == ["no"])
        cluster.end(decider, decided())
        #expect(cluster.heldPaths == ["g/b"])
        cluster.end("g/b")
        cluster.end(decider, decided())
        #expect(cluster.view()?.state == .failed)
    }

    /// The errors are alike.
    @Test func questionSays_whetherTheChildWasCancelled_orHasFailedAsSomethingInItWas() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.group("inner", [.op("a")]), .op("b")])]).graph())
        for path in ["g/inner/a", "g/b"] {
            _ = cluster.ask(.cancel(submission: "last", path: path, reason: "", now: false))
            cluster.end(path, .stopped)
        }
        for (path, isCancelled) in [("g/inner", false), ("g/b", true)] {
            let asked = try #require(cluster.find(decider, on: nil)?.1)
            #expect(asked.decision?.child == path && asked.decision?.isChildCancelled == isCancelled)
            guard case .failure(let failures)? = asked.inputs.first else { return #expect(Bool(false), "\(asked.inputs)") }
            #expect(failures.map(\.code) == [.cancelled])
            cluster.end(decider, decided())
        }
        #expect(cluster.view()?.state == .failed)
    }

    /// As on a queue, where they are those of `aggregateError(_:)`.
    @Test func errorsThatDecisionsAdd_comeBehindThoseOfFailedChildren_andBeforeWhatWasCancelled() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a"), .op("b"), .op("c")]), .op("r", receives: ["g"])]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "g/a", reason: "", now: false))
        cluster.end("g/a", .stopped)
        cluster.end(decider, .decided(GroupDecision(failures: [Failure(code: .operation, message: "added")])))
        for (path, message) in [("g/c", "c"), ("g/b", "b")] {
            cluster.end(path, failure(message))
            cluster.end(decider, decided())
        }
        let received = try #require(cluster.find("r", on: nil)?.1.inputs.first)
        guard case .failure(let failures) = received else { return #expect(Bool(false), "\(received)") }
        #expect(failures.map(\.message) == ["b", "c", "added", "The Operation g/a is Cancelled"])
        #expect(cluster.explain("g")?.causes.last?.operation.hasSuffix("g/b") == true)
    }

    /// What has ended the group whatever is in it leads.
    @Test func timeoutOfAGroup_comesBeforeTheErrorsOfItsChildren() throws {
        var cluster = cluster()
        let timed = Sketch.deciding(
            .group("g", [.op("a"), .op("b")], timeout: 1_000), DeciderNode(type: Self.type, parameters: 0))
        cluster.submit(Sketch.group("root", [timed, .op("r", receives: ["g"])]).graph())
        cluster.end("g/a", failure("a"))
        cluster.end(decider, .decided(GroupDecision(failures: [Failure(code: .operation, message: "added")])))
        cluster.advance(1_000)
        cluster.end("g/b", .stopped)
        let received = try #require(cluster.find("r", on: nil)?.1.inputs.first)
        guard case .failure(let failures) = received else { return #expect(Bool(false), "\(received)") }
        #expect(failures.map(\.code) == [.timeout, .operation])
    }

    /// The failure of a child leads, and is asked whether the group is tried again.
    @Test(arguments: [("exit", true), ("operation", false)]) func retryIsAskedAboutTheError_thatLeads(reason: String, isTriedAgain: Bool) {
        var cluster = cluster()
        let tried = Sketch.deciding(
            Sketch.group("g", [.op("a")], retries: 1).having { $0.retryOn = [.error(reason)] },
            DeciderNode(type: Self.type, parameters: 0))
        cluster.submit(Sketch.group("root", [tried]).graph())
        cluster.end("g/a", .failure([Failure(code: .exit, message: "exited")]))
        cluster.end(decider, .decided(GroupDecision(failures: [Failure(code: .operation, message: "added")])))
        #expect(cluster.state("g") == (isTriedAgain ? .retrying : .failed))
    }

    @Test func whatIsDecided_isThereOnce_isDecidedAboutItself_andTheGroupEndsAfterAllOfIt() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a")]), .op("after", after: ["g"])]).graph())
        cluster.end("g/a")
        cluster.end(decider, decided(.op("x"), .op("y", after: ["x"])))
        #expect(cluster.heldPaths == ["g/x+1.1"])
        try cluster.restart()
        cluster.reattach(1, slots: 8, operations: ["noop", "brain"])
        cluster.end("g/x+1.1")
        cluster.end(decider, decided(.op("z")))
        #expect(cluster.heldPaths.sorted() == ["g/y+1.2", "g/z+2"])
        cluster.end("g/y+1.2")
        cluster.end("g/z+2")
        #expect(cluster.heldPaths == [decider])
        cluster.end(decider, decided())
        cluster.end(decider, decided())
        #expect(cluster.heldPaths == ["after"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.view()?.counts.total == 5)
    }

    @Test func aLostDecision_hasLeftNothing_andIsMadeAgain_withinAndBetweenTwo() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a"), .op("b")])]).graph())
        cluster.end("g/a")
        let lost = try #require(cluster.find(decider, on: nil)?.1)
        cluster.die(1, crashed: false)
        cluster.attach(2, slots: 8, operations: ["noop", "brain"])
        let again = try #require(cluster.find(decider, on: nil)?.1)
        #expect(again.attempt != lost.attempt && again.decision == lost.decision)
        cluster.end(decider, decided(.op("x"), state: "1"))
        cluster.die(2, crashed: false)
        try cluster.restart()
        cluster.attach(3, slots: 8, operations: ["noop", "brain"])
        cluster.advance(10_000)
        cluster.end("g/b")
        let second = try #require(cluster.find(decider, on: nil)?.1)
        #expect(second.decision?.state == Array("1".utf8) && second.decision?.number == 2)
        cluster.end(decider, decided(state: "2"))
        cluster.end("g/x+1")
        #expect(cluster.find(decider, on: nil)?.1.decision?.state == Array("2".utf8))
        cluster.end(decider, decided())
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.view()?.counts.total == 3)
    }

    /// Also when its worker is lost together with the coordinator, between the decision and its commit.
    @Test func whatWasDecided_andIsNotOnTheDisk_isDecidedAgain() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a")])]).graph())
        cluster.end("g/a")
        let before = cluster.journal.count
        cluster.end(decider, decided(.op("x")))
        try cluster.restart(keeping: before)
        cluster.attach(2, slots: 8, operations: ["noop", "brain"])
        cluster.advance(10_000)
        cluster.end(decider, on: 2, decided(.op("y")))
        #expect(cluster.held[2]?.map(\.path) == ["g/y+1"])
    }

    @Test func onlyFailures_areAskedAbout_ifThatIsDeclared() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a"), .op("b"), .op("c")], .failures)]).graph())
        cluster.end("g/a")
        _ = cluster.ask(.cancel(submission: "last", path: "g/c", reason: "", now: true))
        cluster.end("g/c", .stopped)
        #expect(cluster.heldPaths == ["g/b"])
        cluster.end("g/b", failure("no"))
        #expect(cluster.heldPaths == [decider])
        cluster.end(decider, decided(.op("x")))
        cluster.drain()
        #expect(cluster.view()?.state == .failed)
    }

    @Test func itIsNoChild_neitherInOrder_norInNumber_norInLimits_norInValues() throws {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [group([.op("a"), .op("b")], ordered: true, max: 1), .op("r", after: ["g"])]).graph())
        #expect(cluster.heldPaths == ["g/a"])
        cluster.end("g/a", .success(text("A")))
        #expect(cluster.heldPaths == [decider, "g/b"])
        cluster.end(decider, decided(.op("x"), .op("y")))
        cluster.end("g/b", .success(text("B")))
        #expect(cluster.heldPaths == [decider, "g/x+1.1"])
        cluster.end("g/x+1.1", .success(text("X")))
        cluster.end("g/y+1.2", .success(text("Y")))
        #expect(cluster.heldPaths == [decider])
        cluster.drain { _ in decided() }
        #expect(cluster.operations().filter { $0.kind != .decider }.map(\.path) == ["", "g", "g/a", "g/b", "r", "g/x+1.1", "g/y+1.2"])
        #expect(cluster.view()?.counts.total == 5)
    }

    @Test func valuesOfTheGroup_areThoseOfItsChildren() {
        var cluster = cluster()
        var graph = Sketch.group("root", [group([.op("a")]), .op("r")]).graph()
        let (receiver, producer) = (graph.nodes.firstIndex { $0.id == "r" }, graph.nodes.firstIndex { $0.id == "g" })
        graph.nodes[receiver ?? 0].receives = [producer ?? 0]
        cluster.submit(graph)
        cluster.end("g/a", .success(text("A")))
        cluster.end(decider, decided(.op("x")))
        cluster.end("g/x+1", .success(text("X")))
        cluster.end(decider, decided())
        #expect(cluster.find("r", on: nil)?.1.inputs == [.list([.value(text("A")), .value(text("X"))])])
    }

    @Test func aDecisionThatFails_failsTheGroup_withAnErrorThatNamesIt_andIsTheLast() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a"), .op("b")])]).graph())
        cluster.end("g/a")
        cluster.end(decider, failure("it threw"))
        cluster.end("g/b")
        #expect(cluster.heldPaths == [])
        let errors = cluster.operations().first { $0.path == "g" }?.errors ?? []
        #expect(errors.map(\.message) == ["a decision of the group about `g/a` failed: it threw"])
        #expect(errors.map(\.origin) == [decider])
        #expect(cluster.view()?.state == .failed)
    }

    @Test func aFailedDecision_stopsTheOthers_whereAFailedChildDoes() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a"), .op("b")], stop: true)]).graph())
        cluster.end("g/a")
        cluster.end(decider, failure("it threw"))
        #expect(cluster.stops.count == 1)
        cluster.end("g/b", .stopped)
        #expect(cluster.state("g/b") == .cancelled)
        #expect(cluster.view()?.state == .failed)
    }

    @Test(arguments: [Sketch.op("a/b"), .op("x", after: ["x"]), .deciding(.op("o"), DeciderNode(type: "brain", parameters: 0))])
    func whatCannotBePartOfTheGroup_failsTheDecision(top: Sketch) {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a")])]).graph())
        cluster.end("g/a")
        cluster.end(decider, decided(.op("fine"), top))
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.counts.total == 1)
        let message = cluster.operations().first { $0.path == "g" }?.errors.first?.message ?? ""
        #expect(message.contains("it adds what cannot become part of the group"), "\(message)")
    }

    @Test func workersThatDieOfADecision_failItInTheEnd() {
        var cluster = FakeCluster()
        cluster.attach(0, slots: 1, operations: ["noop", "brain"])
        cluster.submit(Sketch.group("root", [group([.op("a")])]).graph())
        cluster.end("g/a")
        for executor in 1...cluster.configuration.crashLimit {
            cluster.begin(decider)
            cluster.die(executor - 1)
            cluster.attach(executor, slots: 1, operations: ["noop", "brain"])
        }
        let errors = cluster.operations().first { $0.path == "g" }?.errors ?? []
        #expect(errors.map(\.code) == [.workerLost])
        #expect(cluster.view()?.state == .failed)
    }

    @Test(arguments: [false, true])
    func workersThatDieSlowlyOfADecision_failItInTheEnd(isRetriedMeanwhile: Bool) {
        var cluster = FakeCluster()
        cluster.attach(0, slots: 1, operations: ["noop", "brain"])
        cluster.submit(Sketch.group("root", [group([.op("a")])]).graph())
        cluster.end("g/a")
        let limit = cluster.configuration.crashLimit
        for executor in 1...limit {
            cluster.begin(decider)
            cluster.disconnect(executor - 1)
            cluster.advance(cluster.configuration.leaseMilliseconds)
            if isRetriedMeanwhile { cluster.attach(executor, slots: 1, operations: ["noop", "brain"]) }
            cluster.die(executor - 1)
            if !isRetriedMeanwhile { cluster.attach(executor, slots: 1, operations: ["noop", "brain"]) }
        }
        #expect(cluster.holds(decider) == isRetriedMeanwhile)
        cluster.depart(limit)
        let errors = cluster.operations().first { $0.path == "g" }?.errors ?? []
        #expect(errors.map(\.code) == [.workerLost])
        #expect(errors.first?.message.contains("on h/0, h/1, h/2, h/3 and h/4;") == true, "\(errors)")
    }

    @Test func aGroupThatStopsAtAFailure_decidesNoMore_andOneBeforeThatIsKept() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a"), .op("b")], stop: true)]).graph())
        cluster.end("g/a")
        cluster.end(decider, decided(.op("x"), .op("y")))
        cluster.end("g/x+1.1")
        // Somebody decides while the failure comes.
        cluster.end("g/b", failure("no"))
        #expect(cluster.stops.count == 2)
        cluster.end(decider, decided(.op("late")))
        cluster.end("g/y+1.2", .stopped)
        #expect(cluster.heldPaths == [])
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.counts.total == 4)
    }

    @Test func aCancelledGroup_waitsForWhoDecides_andTakesNothingOfIt() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a"), .op("b")])]).graph())
        cluster.end("g/a")
        _ = cluster.ask(.cancel(submission: "last", path: "g", reason: "", now: false))
        #expect(cluster.stops.count == 2)
        cluster.end("g/b", .stopped)
        #expect(cluster.view()?.state == .running)
        cluster.end(decider, decided(.op("late")))
        #expect(cluster.state("g") == .cancelled)
        #expect(cluster.view()?.counts.total == 2)
    }

    @Test func whilePaused_nothingIsDecided() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a")])]).graph())
        _ = cluster.ask(.pause(submission: "last", path: "g"))
        cluster.end("g/a")
        #expect(cluster.heldPaths == [])
        _ = cluster.ask(.resume(submission: "last", path: "g"))
        #expect(cluster.heldPaths == [decider])
        _ = cluster.ask(.pause(submission: "last", path: ""))
        cluster.giveBackRecalled()
        #expect(cluster.heldPaths == [])
        _ = cluster.ask(.resume(submission: "last", path: ""))
        cluster.end(decider, decided())
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func aGroupThatBeginsAnew_remembersNothing_andHasLostWhatWasAdded() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a")], retries: 1)]).graph())
        cluster.end("g/a")
        cluster.end(decider, decided(.op("x"), state: "7"))
        cluster.end("g/x+1", failure("no"))
        cluster.end(decider, decided())
        cluster.advance(60_000)
        #expect(cluster.heldPaths == ["g/a"])
        cluster.end("g/a")
        let question = cluster.find(decider, on: nil)?.1.decision
        #expect(question?.number == 1 && question?.state == nil)
        cluster.end(decider, decided())
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.view()?.counts.total == 1)
    }

    @Test func forgivenChildren_doNotMakeTheGroupFail() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a")])]).graph())
        cluster.end("g/a", failure("no"))
        let unit = try #require(cluster.operations().first { $0.path == "g/a" }).unit
        var addition = Addition.of(.op("x"), .op("y"))
        addition.products = [1]
        cluster.end(decider, .decided(GroupDecision(addition: addition, forgiven: [unit], forgivenNodes: [2])))
        cluster.end("g/x+1.1")
        cluster.end("g/y+1.2", failure("no"))
        cluster.drain { _ in decided() }
        #expect(cluster.state("g") == .succeeded)
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func errorsOfTheGroupsOwn_makeItFail_whenAllHasEnded() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [group([.op("a"), .op("b")])]).graph())
        cluster.end("g/a")
        cluster.end(decider, .decided(GroupDecision(failures: [Failure(code: .operation, message: "mine")])))
        cluster.end("g/b")
        cluster.end(decider, decided())
        #expect(cluster.operations().first { $0.path == "g" }?.errors.map(\.message) == ["mine"])
    }

    @Test func itIsDecidedWhereTheGroupIsRegistered_andWaitsForSuchAWorker() {
        var cluster = cluster(operations: ["noop"])
        cluster.submit(Sketch.group("root", [group([.op("a")])]).graph())
        cluster.end("g/a")
        #expect(cluster.heldPaths == [])
        let view = cluster.operations().first { $0.path == decider }
        #expect(view?.kind == .decider && view?.state == .queued)
        #expect(view?.waiting?.text == "no worker that is there has the operation `brain`")
        cluster.attach(2, operations: ["brain"])
        #expect(cluster.held[2]?.map(\.path) == [decider])
    }

    @Test func anUnknownGroupType_orVersion_isRefused() {
        var cluster = cluster(operations: ["noop"])
        let graph = Sketch.group("root", [group([.op("a")])]).graph()
        guard case .checked(let errors)? = cluster.ask(.check(graph: graph, waitForWorkers: false)) else { return #expect(Bool(false)) }
        #expect(errors.map(\.message).contains { $0.hasPrefix("unknown operation `brain`") })
        cluster.attach(2, operations: [OperationSignature(name: "brain", version: 3)])
        var other = graph
        other.nodes = other.nodes.map { node in
            guard case .decider(var decider) = node.kind else { return node }
            decider.version = 2
            var node = node
            node.kind = .decider(decider)
            return node
        }
        guard case .checked(let more)? = cluster.ask(.check(graph: other, waitForWorkers: false)) else { return #expect(Bool(false)) }
        #expect(more.map(\.message).contains { $0.contains("asks for version 2 of `brain`; workers have registered 3") })
        #expect(graph.faults().isEmpty)
    }

    @Test func decidersThatAreWrong_areRefused() {
        let decider = DeciderNode(type: "brain", parameters: 0)
        let two = Sketch.deciding(.deciding(.group("g", []), decider), decider)
        #expect(Sketch.group("root", [two]).graph().faults().count == 1)
        var graph = Sketch.group("root", [.deciding(.group("g", []), decider), .op("a")]).graph()
        graph.nodes[3].after = [2]
        #expect(graph.faults().map(\.message).contains { $0.contains("waits for a decider") })
        graph.nodes[3].after = []
        graph.nodes[2].retries = 2
        #expect(graph.faults().count == 1)
    }

    // MARK: In the process of the submitter

    private func hosted(_ children: [Sketch]) -> Graph {
        Sketch.group(
            "root",
            [.deciding(.group("g", children), DeciderNode(type: "Sequence", parameters: 0, isAskedAtBegin: true), hosted: true)]
        ).graph()
    }

    @Test func aHostedGroup_isAskedWhenItBegins_andOnlyItsSubmitterDecides() throws {
        var cluster = cluster()
        cluster.attach(9, slots: 4, operations: [], isSubmitter: true)
        cluster.submit(hosted([]), submitter: 9)
        let first = try #require(cluster.held[9]?.first)
        #expect(first.path == decider && first.isHosted && first.decision?.child == nil && first.inputs.isEmpty)
        cluster.end(decider, decided(.op("x")))
        cluster.end("g/x+1")
        #expect(cluster.held[9]?.map(\.path) == [decider])
        #expect(cluster.held[9]?.first?.decision?.child == "g/x+1")
        cluster.end(decider, decided())
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test(arguments: [true, false])
    func aWrapper_deliversWhatItsProductDoes_andFailsAsThatDoes(succeeds: Bool) {
        var cluster = cluster()
        cluster.attach(9, slots: 4, operations: [], isSubmitter: true)
        var graph = Sketch.group(
            "root",
            [
                .deciding(
                    .group("g", []), DeciderNode(type: "Wrapper", parameters: 0, isAskedAtBegin: true, isWrapper: true), hosted: true),
                .op("r"),
            ]
        ).graph()
        graph.nodes[3].receives = [1]
        cluster.submit(graph, submitter: 9)
        var addition = Addition.of(.op("x"), .op("y"))
        addition.products = [2]
        cluster.end(decider, .decided(GroupDecision(addition: addition, forgivenNodes: [1])))
        cluster.end("g/x+1.1", failure("x"))
        cluster.end(decider, decided())
        cluster.end("g/y+1.2", succeeds ? .success(text("Y")) : failure("y"))
        cluster.end(decider, decided())
        let input = cluster.find("r", on: nil)?.1.inputs.first
        if succeeds {
            #expect(input == .value(text("Y")))
        } else {
            guard case .failure(let failures)? = input else { return #expect(Bool(false), "\(String(describing: input))") }
            #expect(failures.map(\.message) == ["y"])
        }
    }

    @Test func whenItsSubmitterIsGone_theGroupFails_whenThereIsSomethingToDecide() {
        var cluster = cluster()
        cluster.attach(9, slots: 4, operations: [], isSubmitter: true)
        cluster.submit(hosted([.op("a"), .op("b")]), submitter: 9)
        cluster.end(decider, decided())
        cluster.depart(9)
        #expect(cluster.heldPaths == ["g/a", "g/b"])
        cluster.end("g/a")
        #expect(cluster.heldPaths == ["g/b"])
        cluster.end("g/b")
        #expect(cluster.operations().first { $0.path == "g" }?.errors.map(\.code) == [.submitterGone])
    }

    @Test func whenItsSubmitterIsGoneWhileItDecides_theGroupFails() {
        var cluster = cluster()
        cluster.attach(9, slots: 4, operations: [], isSubmitter: true)
        cluster.submit(hosted([.op("a")]), submitter: 9)
        cluster.disconnect(9)
        cluster.end("g/a")
        cluster.advance(30_000)
        #expect(cluster.operations().first { $0.path == "g" }?.errors.map(\.code) == [.submitterGone])
        #expect(cluster.view()?.state == .failed)
    }
}
