import Scheduling
import Testing

/// Operations that may be computed again, and begin on one worker before anybody else knows that it is their turn.
@Suite(.timeLimit(.minutes(1)))
struct LinkTests {
    private static let lease = Scheduler.Configuration().leaseMilliseconds

    private static func recomputable(_ sketch: Sketch) -> Sketch { sketch.having { $0.recomputable = true } }

    private static let chain = recomputable(.group("root", [.op("a"), .op("b"), .op("c")], ordered: true)).graph()

    /// An executor that is known to be quick.
    private static func quick(_ graph: Graph, followsLinks: Bool = true) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, followsLinks: followsLinks)
        cluster.submit(Sketch.group("root", [.op("warm")]).graph(), key: "warm")
        cluster.end("warm")
        cluster.submit(graph)
        return cluster
    }

    private func link(_ path: String, _ cluster: FakeCluster) -> AttemptLink? { cluster.find(path, on: nil)?.1.link }

    private func linkedPaths(_ cluster: FakeCluster) -> [String] {
        cluster.journal.compactMap { fact in
            if case .linked(let unit, _, _, _) = fact {
                cluster.scheduler.name(of: unit).split(separator: "/").last.map(String.init)
            } else {
                nil
            }
        }
    }

    @Test func chain_isSentAsAWhole_eachAfterTheOneBefore_andIsInTheJournal() throws {
        let cluster = Self.quick(Self.chain)
        #expect(cluster.heldPaths == ["a", "b", "c"])
        let (a, b) = (try #require(cluster.find("a", on: 1)).1, try #require(cluster.find("b", on: 1)).1)
        #expect(a.link == nil)
        #expect(b.link == AttemptLink(unit: a.unit, attempt: a.attempt, delivers: false))
        #expect(link("c", cluster) == AttemptLink(unit: b.unit, attempt: b.attempt, delivers: false))
        #expect(linkedPaths(cluster) == ["b", "c"])
        #expect(cluster.sends.allSatisfy { $0.after == cluster.scheduler.sequence }, "nothing is sent before that is on the disk")
    }

    @Test func whatFollowed_countsWhenItsTurnHasCome_andIsNotSentAgain() {
        var cluster = Self.quick(Self.chain)
        cluster.end("a")
        #expect(cluster.state("b") == .running && cluster.state("c") == .blocked)
        for path in ["b", "c"] { cluster.end(path) }
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.dispatched == ["warm", "a", "b", "c"])
    }

    @Test func valueOfTheOneBefore_isNotSent_theExecutorHasIt() throws {
        var cluster = Self.quick(Self.recomputable(.group("root", [.op("a"), .op("b", receives: ["a"])])).graph())
        #expect(link("b", cluster)?.delivers == true)
        #expect(try #require(cluster.find("b", on: 1)).1.inputs.isEmpty)
        cluster.end("a", .success(text("x")))
        cluster.end("b")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func failure_lettingNothingFollow_endsWhatWasLinked() {
        var cluster = Self.quick(Self.chain)
        cluster.end("a", failure("no"))
        #expect(cluster.scheduler.violations() == [])
        #expect(cluster.view()?.state != .running || cluster.holds("b"), "the order alone lets b go on")
        #expect(cluster.dispatched.suffix(2) == ["b", "c"], "given out anew, with what follows")
    }

    @Test func largeValue_doesNotStayThere_theNextIsGivenOutAsUsual() throws {
        var cluster = Self.quick(Self.recomputable(.group("root", [.op("a"), .op("b", receives: ["a"])])).graph())
        let first = try #require(cluster.find("b", on: 1)).1
        cluster.forget(first, of: 1)
        cluster.end("a", .success(Payload(encoding: .bytes, storage: .blob(digest: Array(repeating: 7, count: 32), size: 1 << 20))))
        let second = try #require(cluster.find("b", on: 1)).1
        #expect(second.attempt != first.attempt && second.link == nil && second.inputs.count == 1)
    }

    @Test func cancelled_whatMayHaveBegun_isToldSoWhenItHasEnded() throws {
        var cluster = Self.quick(Self.chain)
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        #expect(cluster.stops.map(\.reason) == [.cancelled])
        #expect(cluster.state("b") == .stopping)
        cluster.forget(try #require(cluster.find("c", on: 1)).1, of: 1)
        cluster.end("b", .stopped)
        #expect(cluster.state("b") == .cancelled)
        cluster.end("a")
        #expect(cluster.dispatched.suffix(1) == ["c"], "its turn comes all the same, and it is given out anew")
        cluster.end("c")
        #expect(cluster.view()?.state == .failed)
    }

    /// What was stopped lets nothing follow. After a success that came before the order did something may run.
    @Test(arguments: [true, false]) func cancelledAsAWhole_endsWhenNothingCanRun(hasSucceeded: Bool) {
        var cluster = Self.quick(Self.chain)
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        cluster.end("a", hasSucceeded ? .success(.void) : .stopped)
        let stopped = Set(cluster.stops.compactMap { order in cluster.held[1]?.first { $0.attempt == order.attempt }?.path })
        #expect(cluster.view()?.state == (hasSucceeded ? .running : .cancelled))
        guard hasSucceeded else { return }
        #expect(stopped == ["b", "c"])
        cluster.end("b")
        #expect(cluster.view()?.state == .running)
        cluster.end("c", .stopped)
        #expect(cluster.view()?.state == .cancelled)
    }

    @Test func cancelledAfterARestart_waitsForTheExecutorThatMayRunIt() throws {
        var cluster = Self.quick(Self.chain)
        try cluster.restart()
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        #expect(cluster.state("b") == .stopping)
        cluster.reattach(1, endsDropped: false)
        #expect(cluster.state("b") == .stopping, "it runs there")
        cluster.endDropped(1)
        #expect(cluster.state("b") == .cancelled)
    }

    @Test func executorThatIsLost_takesAllOfThemWithIt_andAnotherBeginsAnew() {
        var cluster = Self.quick(Self.chain)
        cluster.die(1, crashed: false)
        cluster.attach(2)
        #expect(cluster.heldPaths == ["a"])
        for path in ["a", "b", "c"] { cluster.end(path) }
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func executorThatIsNotHeard_mayRunThem_andCancelledWaitsForThat() {
        var cluster = Self.quick(Self.chain)
        cluster.disconnect(1)
        cluster.advance(Self.lease)
        cluster.attach(2)
        cluster.end("a", on: 2)
        #expect(cluster.find("b", on: 2) != nil)
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        cluster.end("b", on: 2, .stopped)
        #expect(cluster.state("b") == .stopping)
        cluster.die(1, crashed: false)
        #expect(cluster.state("b") == .cancelled)
    }

    @Test func newConnection_forgetsWhatWasLinked() throws {
        var cluster = Self.quick(Self.chain)
        cluster.disconnect(1)
        let a = try #require(cluster.find("a", on: 1)).1
        cluster.attach(1, held: [.init(unit: a.unit, attempt: a.attempt, state: .running)], followsLinks: true)
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a")
        let b = try #require(cluster.find("b", on: 1)).1
        #expect(b.link == nil && link("c", cluster) == AttemptLink(unit: b.unit, attempt: b.attempt, delivers: false))
    }

    // MARK: Pauses

    private static let pauseOfB = Request.pause(submission: "last", path: "b")

    /// Of pauses that have been asked for.
    private func acknowledgements(_ cluster: FakeCluster) -> Int {
        cluster.replies.count { if case .steered = $0 { true } else { false } }
    }

    private func isAcknowledged(_ cluster: FakeCluster) -> Bool { acknowledgements(cluster) == 1 }

    @Test func paused_whatIsLinkedComesBack_andThatIsAcknowledgedThen() throws {
        var cluster = Self.quick(Self.chain)
        let b = try #require(cluster.find("b", on: 1)).1
        #expect(cluster.ask(Self.pauseOfB) == nil)
        #expect(cluster.stops.map(\.attempt) == [b.attempt] && cluster.stops.map(\.reason) == [.recalled])
        cluster.giveBackRecalled()
        #expect(isAcknowledged(cluster))
        cluster.forget(try #require(cluster.find("c", on: 1)).1, of: 1)
        cluster.end("a")
        #expect(cluster.stops.isEmpty && cluster.heldPaths.isEmpty && cluster.state("b") == .paused)
        _ = cluster.ask(.resume(submission: "last", path: "b"))
        #expect(try #require(cluster.find("b", on: 1)).1.attemptNumber == 1, "what never began is not counted")
        for path in ["b", "c"] { cluster.end(path) }
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test(arguments: ["", "c"]) func pausedAsAWhole_orBehind_allThatIsInItComesBack(path: String) {
        var cluster = Self.quick(Self.chain)
        cluster.begin("a")
        #expect(cluster.ask(.pause(submission: "last", path: path)) == nil)
        #expect(cluster.stops.count == (path.isEmpty ? 2 : 1) && cluster.stops.allSatisfy { $0.reason == .recalled })
        cluster.giveBackRecalled()
        #expect(isAcknowledged(cluster))
        #expect(cluster.heldPaths.contains("b") == !path.isEmpty)
    }

    @Test func pauseThatHasNotTakenEffect_isSaid_withWhomItWaitsFor() throws {
        var cluster = Self.quick(Self.chain)
        cluster.begin("a")
        #expect(cluster.ask(.pause(submission: "last", path: "")) == nil)
        cluster.advance(12_000)
        let id = cluster.view()?.id ?? ""
        let explained = try cluster.explained("b")
        #expect(explained.blockers.map(\.kind) == [.order, .pausing])
        #expect(
            explained.blockers.last?.text(now: explained.at)
                == "a pause of \(id) was asked for 12 s ago, which takes effect when h/1 has answered, or its lease is over")
        #expect(explained.blockers.last?.remedy(for: "\(id)/b") == "`aop resume \(id)` takes it back")
        #expect(cluster.explain("")?.blockers.map(\.kind) == [.pausing])
        #expect(cluster.explain("a")?.blockers == [], "what runs goes on")
        let waits = cluster.operations().map { $0.waiting?.text ?? "" }
        let wait = "a pause was asked for, which takes effect when h/1 has answered, or its lease is over"
        #expect(waits == [wait, "", wait, wait], "of the submission and what has not begun in it")
        _ = cluster.ask(.resume(submission: "last", path: ""))
        #expect(cluster.explain("b")?.blockers.map(\.kind) == [.order])
    }

    /// It had begun before the order came: what runs goes on.
    @Test func pausedTooLate_itGoesOn() {
        var cluster = Self.quick(Self.chain)
        #expect(cluster.ask(Self.pauseOfB) == nil)
        cluster.end("a")
        #expect(isAcknowledged(cluster) && cluster.stops.isEmpty && cluster.state("b") == .running)
        cluster.end("b")
        #expect(cluster.state("c") == .running, "it is not paused")
        cluster.end("c")
        #expect(cluster.view()?.state == .succeeded)
    }

    /// Who has asked for both wants it to go on.
    @Test func resumedBeforeThePauseIsAcknowledged_itGoesOn() {
        var cluster = Self.quick(Self.chain)
        #expect(cluster.ask(Self.pauseOfB) == nil)
        #expect(cluster.ask(.resume(submission: "last", path: "b")) != nil)
        #expect(acknowledgements(cluster) == 2)
        cluster.giveBackRecalled()
        cluster.end("a")
        #expect(cluster.state("b") == .running || cluster.holds("b"))
    }

    @Test func pausedWhatWillNotFollow_isAcknowledged() {
        var cluster = Self.quick(Self.chain)
        #expect(cluster.ask(Self.pauseOfB) == nil)
        cluster.end("a", failure("no"))
        #expect(isAcknowledged(cluster) && cluster.state("b") == .paused)
    }

    @Test func pausedWhileTheExecutorIsNotHeard_isAcknowledgedWhenItsLeaseIsOver() {
        var cluster = Self.quick(Self.chain)
        cluster.disconnect(1)
        #expect(cluster.ask(Self.pauseOfB) == nil)
        cluster.advance(Self.lease - 1)
        #expect(!isAcknowledged(cluster))
        cluster.advance(1)
        #expect(isAcknowledged(cluster))
    }

    @Test func pausedBeforeItComesBack_isAcknowledgedThen() throws {
        var cluster = Self.quick(Self.chain)
        let a = try #require(cluster.find("a", on: 1)).1
        cluster.disconnect(1)
        #expect(cluster.ask(Self.pauseOfB) == nil)
        cluster.attach(1, held: [.init(unit: a.unit, attempt: a.attempt, state: .running)], followsLinks: true)
        #expect(isAcknowledged(cluster))
    }

    /// What it had told executors is not known to a coordinator that has just started.
    @Test func pausedAfterARestart_isAcknowledgedWhenTheExecutorIsBack() throws {
        var cluster = Self.quick(Self.chain)
        try cluster.restart()
        #expect(cluster.ask(Self.pauseOfB) == nil)
        #expect(cluster.ask(Self.pauseOfB) == nil, "asked twice, it waits twice")
        cluster.reattach(1)
        #expect(acknowledgements(cluster) == 2)
    }

    @Test func pauseOfSomethingElse_isAcknowledgedAtOnce() {
        var cluster = Self.quick(Self.chain)
        #expect(cluster.ask(.pause(submission: "last", path: "a")) != nil)
        #expect(cluster.heldPaths == ["a", "b", "c"], "what it has begun goes on, and what follows that is not paused")
    }

    /// The end of the one before is told later, when what it has sent is on the disk.
    @Test func heardOfBeforeTheOneItFollows_itIsInVain_andGivenOutAnew() throws {
        var cluster = Self.quick(Self.chain)
        let first = try #require(cluster.find("b", on: 1)).1
        cluster.forget(try #require(cluster.find("c", on: 1)).1, of: 1)
        cluster.end("b")
        cluster.end("a")
        let second = try #require(cluster.find("b", on: 1)).1
        #expect(second.attempt != first.attempt && second.link == nil)
        for path in ["b", "c"] { cluster.end(path) }
        #expect(cluster.view()?.state == .succeeded)
    }

    private static let alone: [Sketch] = [
        .group("root", [.op("a"), .op("b")], ordered: true),
        .group("root", [recomputable(.op("a")), .op("b")], ordered: true),
        .group("root", [.op("a"), recomputable(.op("b"))], ordered: true),
        recomputable(.group("root", [.op("a"), .op("b")])),
        recomputable(.group("root", [.op("a"), .op("x"), .op("b", after: ["a", "x"])])),
        recomputable(.group("root", [.op("a"), .group("g", [.op("b")])], ordered: true)),
        recomputable(.group("root", [.op("a"), .op("b").having { $0.exclusive = [Exclusion(key: "k")] }], ordered: true)),
        recomputable(.group("root", [.op("a"), .op("b")], ordered: true)).having { $0.exclusive = [Exclusion(key: "k")] },
        recomputable(.group("root", [.op("a"), .op("b").having { $0.unique = Uniqueness(id: "u") }], ordered: true)),
        recomputable(.group("root", [.op("a"), .op("b").having { $0.delayMilliseconds = 1 }], ordered: true)),
        recomputable(.group("root", [.op("a"), .op("b").having { $0.deadlineMilliseconds = 1_000 }], ordered: true)),
        recomputable(.group("root", [.op("a"), .op("b").having { $0.queueTimeoutMilliseconds = 1_000 }], ordered: true)),
        recomputable(.group("root", [.op("a"), .op("b").having { $0.requires = Requirements(labels: ["fast"]) }], ordered: true)),
    ]

    @Test(arguments: alone.indices) func whatNeedsMoreThanASlot_isNotLinked(number: Int) {
        #expect(linkedPaths(Self.quick(Self.alone[number].graph())).isEmpty)
    }

    /// Its end is told after what it sends: that of what is linked to it would be heard of first.
    @Test func whatSends_isTheLastOfItsLinks() {
        var noop: OperationSignature = "noop"
        noop.sent = .any
        var cluster = FakeCluster()
        cluster.attach(1, operations: [noop], followsLinks: true)
        cluster.submit(Sketch.group("root", [Sketch.op("warm")]).graph(), key: "warm")
        cluster.end("warm")
        cluster.submit(Self.chain)
        #expect(cluster.heldPaths == ["a"])
    }

    @Test func executorThatDoesNotKnowLinks_getsNone() {
        #expect(Self.quick(Self.chain, followsLinks: false).heldPaths == ["a"])
    }

    @Test func executorOfWhichItIsNotKnownHowQuickItIs_getsNone() {
        var cluster = FakeCluster()
        cluster.attach(1, followsLinks: true)
        cluster.submit(Self.chain)
        #expect(cluster.heldPaths == ["a"])
    }

    @Test func whatExcludesEachOther_hidesNoOtherFault() {
        let graph = Sketch.group(
            "root",
            [
                Sketch.op("a").having { ($0.atMostOnce, $0.recomputable) = (true, true) }, .op("b", after: ["c"]), .op("c", after: ["b"]),
            ]
        ).graph()
        let messages = graph.faults().map(\.message)
        #expect(messages.count == 2 && messages.first?.contains("exclude each other") == true, "\(messages)")
        #expect(messages.last?.contains("cycle") == true, "\(messages)")
    }

    @Test func atMostOnce_isRefused_alsoAroundAndInside() {
        func once(_ sketch: Sketch) -> Sketch { sketch.having { $0.atMostOnce = true } }
        let graph = Sketch.group(
            "root",
            [
                Sketch.op("a").having { ($0.atMostOnce, $0.recomputable) = (true, true) },
                Self.recomputable(.group("g", [.group("h", [once(.op("a"))])])),
                once(.group("i", [Self.recomputable(.op("a"))])),
            ]
        ).graph()
        #expect(
            graph.faults().map { "\($0.path): \($0.message)" } == [
                "a: has `atMostOnce` and `recomputable`, which exclude each other; leave one out",
                "g/h/a: has `atMostOnce`, and a group around it has `recomputable`, which lets it run again; leave one of them out",
                "i/a: has `recomputable`, and a group around it has `atMostOnce`: what must not run twice cannot; leave one of them out",
            ])
    }
}
