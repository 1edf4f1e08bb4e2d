import Testing

@testable import Scheduling

/// Unique ids of the cluster.
@Suite struct UniquenessTests {
    private func outcome(_ cluster: inout FakeCluster, _ submission: String = "last", _ path: String) -> OperationState? {
        cluster.operations(of: submission).first { $0.path == path }?.state
    }

    private func errors(_ cluster: inout FakeCluster, _ submission: String = "last", _ path: String) -> [Failure] {
        cluster.operations(of: submission).first { $0.path == path }?.errors ?? []
    }

    private func cluster(slots: Int = 8) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: slots)
        return cluster
    }

    private func root(_ children: Sketch..., ordered: Bool = false, stop: Bool = false) -> Graph {
        Sketch.group("root", children, ordered: ordered, stop: stop).graph()
    }

    @Test func duplicate_endsAtOnce_namingTheFirst_andTheIdIsFreeAfterwards() {
        var cluster = cluster()
        let first = cluster.submit(root(.op("a").unique("u")), key: "1") ?? ""
        let second = cluster.submit(root(.op("b").unique("u"), .op("c", after: ["b"])), key: "2") ?? ""
        #expect(cluster.heldPaths == ["a", "c"])
        let error = errors(&cluster, second, "b").first
        #expect(error?.code == .duplicate && error?.typeName == "AOperationError.IgnoredDuplicate")
        #expect(error?.duplicateOf == "\(first)/a")
        #expect(error?.message == "is ignored: \(first)/a has the same unique id `u` and was active")
        cluster.drain()
        cluster.submit(root(.op("d").unique("u")), key: "3")
        #expect(cluster.heldPaths == ["d"])
    }

    /// What comes behind it in its group takes neither a key nor a place before it.
    @Test func memberWithAnId_isNotOvertaken() {
        var cluster = cluster()
        cluster.submit(root(.keyed("a", "k").unique("u"), .holding("b", "k", [.op("c").unique("u")]), .op("d")), key: "1")
        #expect(cluster.heldPaths.sorted() == ["a", "d"])
        cluster.drain()
        cluster.submit(
            Sketch.group("root", [.op("e").unique("u"), .group("f", [.op("g").unique("u")]), .op("h")], max: 1).graph(), key: "2")
        var order: [String] = []
        while let path = cluster.heldPaths.first {
            order.append(path)
            cluster.end(path, .success(.void))
        }
        #expect(order == ["e", "f/g", "h"])
        for (submission, path) in [("key=1", "b/c"), ("key=2", "f/g")] {
            #expect(outcome(&cluster, submission, path) == .succeeded, "\(errors(&cluster, submission, path))")
        }
    }

    @Test func id_isClaimedAnew_whenTheFirstHasStopped_notBefore() {
        var cluster = cluster()
        let first = cluster.submit(root(.op("a").unique("u")), key: "1") ?? ""
        cluster.begin("a")
        _ = cluster.ask(.cancel(submission: first, path: "a", reason: "", now: false))
        let second = cluster.submit(root(.op("b").unique("u")), key: "2") ?? ""
        #expect(errors(&cluster, second, "b").map(\.code) == [.duplicate], "the first one still stops")
        cluster.end("a", .stopped)
        cluster.submit(root(.op("c").unique("u")), key: "3")
        #expect(cluster.heldPaths == ["c"])
    }

    @Test func joiner_endsLikeTheFirst_success() {
        var cluster = cluster(slots: 1)
        let first = cluster.submit(root(.op("a").unique("u")), key: "1") ?? ""
        let second = cluster.submit(root(.op("b").unique("u", joins: true), .op("c", receives: ["b"])), key: "2") ?? ""
        let view = cluster.operations(of: second).first { $0.path == "b" }
        #expect(view?.state == .blocked && view?.joinedTo == "\(first)/a" && view?.uniqueID == "u")
        cluster.end("a", .success(text("value")))
        let joined = cluster.operations(of: second, values: true).first { $0.path == "b" }
        #expect(joined?.state == .succeeded && joined?.value == text("value") && joined?.attempts == 0 && joined?.joinedTo == "")
        #expect(cluster.find("c", on: nil)?.1.inputs == [.value(text("value"))])
        #expect(cluster.dispatched == ["a", "c"])
    }

    /// Its turn comes when the first one, and its value's other names, may be forgotten.
    @Test func joinerThatWaitsForItsTurn_namesTheValueThatItWillHave() {
        var cluster = cluster()
        cluster.submit(root(.op("a").unique("u")), key: "1")
        let second = cluster.submit(root(.op("x"), .op("b").unique("u", joins: true), ordered: true), key: "2") ?? ""
        let large = Payload(encoding: .text, storage: .blob(digest: Array(repeating: 7, count: 32), size: 200_000))
        func places() -> [String] {
            var places: [String] = []
            cluster.scheduler.forEachStoredValue { _, _, place in places.append(place) }
            return places
        }
        cluster.end("a", .success(large))
        #expect(places().contains("\(second)/b"), "\(places())")
        cluster.end("x")
        #expect(outcome(&cluster, second, "b") == .succeeded)
        #expect(places().contains("\(second)/b"))
    }

    @Test func joiner_endsLikeTheFirst_failure_whoseRetriesItWaitsFor() {
        var cluster = cluster()
        cluster.submit(root(.op("a", retries: 1).unique("u")), key: "1")
        let second = cluster.submit(root(.op("b", retries: 5).unique("u", joins: true)), key: "2") ?? ""
        cluster.end("a", failure("one"))
        #expect(outcome(&cluster, second, "b") == .blocked)
        cluster.advance(70_000)
        cluster.end("a", failure("two"))
        #expect(outcome(&cluster, second, "b") == .failed)
        #expect(errors(&cluster, second, "b").map(\.message) == ["two"])
        #expect(errors(&cluster, second, "b").map(\.origin) == ["b"], "a path of another submission would mislead")
    }

    @Test func joiner_endsLikeTheFirst_cancelled_onceThatHasStopped() {
        var cluster = cluster()
        let first = cluster.submit(root(.op("a").unique("u")), key: "1") ?? ""
        let second = cluster.submit(root(.op("b").unique("u", joins: true)), key: "2") ?? ""
        _ = cluster.ask(.cancel(submission: first, path: "a", reason: "", now: false))
        #expect(outcome(&cluster, second, "b") == .blocked)
        cluster.end("a", .stopped)
        #expect(outcome(&cluster, second, "b") == .cancelled)
        #expect(outcome(&cluster, second, "") == .failed, "the group was not cancelled itself")
    }

    @Test func joinersCancellationAndDeadline_endItAlone() {
        var cluster = cluster()
        let first = cluster.submit(root(.op("a").unique("u")), key: "1") ?? ""
        let second =
            cluster.submit(
                root(
                    .op("b").unique("u", joins: true),
                    .op("c").having {
                        $0.unique = Uniqueness(id: "u", joins: true)
                        $0.deadlineMilliseconds = 1_000
                    }), key: "2") ?? ""
        _ = cluster.ask(.cancel(submission: second, path: "b", reason: "", now: false))
        #expect(outcome(&cluster, second, "b") == .cancelled)
        cluster.advance(1_000)
        #expect(errors(&cluster, second, "c").map(\.code) == [.deadline])
        #expect(outcome(&cluster, first, "a") == .queued)
        cluster.end("a")
        #expect(outcome(&cluster, first, "") == .succeeded)
    }

    @Test func twoMembersWithOneId_theFirstInChildOrderRuns() {
        var cluster = cluster()
        cluster.submit(root(.op("a", after: ["b"]).unique("u"), .op("b").unique("u"), .op("c").unique("u", joins: true)))
        #expect(cluster.state("b") == .failed)
        #expect(cluster.heldPaths == ["a"])
        #expect(cluster.state("c") == .blocked)
        cluster.drain()
        #expect(cluster.state("c") == .succeeded)
    }

    /// The one that is waited for waits for the place in which that is done.
    @Test func joinBeforeTheConditionsOfOneThatHoldsAPlace_failsIfTheFirstWaitsForThat() {
        var cluster = cluster()
        let probe = Condition(.probe(Probe(type: "probe", parameters: 0)))
        let prepared = Sketch.preparing(.op("m").having { $0.conditions = [probe] }, [0: .op("p").unique("u", joins: true)])
        cluster.submit(Sketch.group("root", [prepared, .op("n").unique("u")], max: 1).graph())
        #expect(cluster.state("m") == .failed)
        #expect(cluster.operations().first { $0.path == "m/p" }?.errors.first?.code == .duplicate)
        #expect(cluster.heldPaths == ["n"])
    }

    @Test func joinBeforeTheConditionsOfAGroup_failsIfTheFirstWaitsForSomethingInIt() {
        var cluster = cluster()
        let probe = Condition(.probe(Probe(type: "probe", parameters: 0)))
        let group = Sketch.preparing(.group("g", [.op("x")]).having { $0.conditions = [probe] }, [0: .op("p").unique("u", joins: true)])
        cluster.submit(root(.op("w", after: ["x"]).unique("u"), group))
        #expect(cluster.operations().first { $0.path == "g/p" }?.errors.first?.code == .duplicate)
        #expect(cluster.state("g") == .failed)
        cluster.drain()
        #expect(cluster.view()?.state == .failed)
    }

    @Test func id_isClaimedWhenTheGroupStarts_notBefore() {
        var cluster = cluster()
        cluster.submit(
            root(.op("z"), .group("g", [.op("a").unique("u")], after: ["z"]), .group("h", [.op("b").unique("u")])))
        #expect(cluster.heldPaths.sorted() == ["h/b", "z"])
        cluster.end("z")
        #expect(cluster.state("g/a") == .failed)
        #expect(cluster.heldPaths == ["h/b"])
    }

    @Test func root_claimsAtAdmission_andASecondSubmissionIsIgnoredOrJoins() {
        var cluster = cluster()
        func graph(joins: Bool = false) -> Graph {
            Sketch.group("root", [.op("a"), .op("b", after: ["a"])]).unique("nightly", joins: joins).graph()
        }
        let first = cluster.submit(graph(), key: "1") ?? ""
        let ignored = cluster.submit(graph(), key: "2") ?? ""
        let joined = cluster.submit(graph(joins: true), key: "3") ?? ""
        #expect(cluster.heldPaths == ["a"])
        #expect(errors(&cluster, ignored, "").first?.duplicateOf == first)
        #expect(cluster.operations(of: ignored).map(\.state) == [.failed, .cancelled, .cancelled])
        #expect(cluster.operations(of: joined)[0].joinedTo == first)
        cluster.drain()
        #expect(outcome(&cluster, joined, "") == .succeeded)
        #expect(cluster.dispatched == ["a", "b"])
    }

    @Test func joinedGroup_deliversTheFirstOnesValues_andItsMembersEndAsCancelled() {
        var cluster = cluster()
        cluster.submit(root(.group("g", [.op("a"), .op("b")]).unique("u")), key: "1")
        let second =
            cluster.submit(
                root(.group("h", [.op("x")]).unique("u", joins: true), .op("c", receives: ["h"])), key: "2") ?? ""
        cluster.end("g/a", .success(text("1")))
        cluster.end("g/b", .success(text("2")))
        #expect(cluster.operations(of: second).map(\.state) == [.running, .succeeded, .cancelled, .queued])
        #expect(
            cluster.operations(of: second, values: true)[1].value == Payload(encoding: .json, storage: .inline(Array(#"["1","2"]"#.utf8))))
        #expect(cluster.find("c", on: nil)?.1.inputs == [.list([.value(text("1")), .value(text("2"))])])
    }

    @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")])
    func joinedValues_areShownAsJSON(plain: String, base64: String) {
        let bytes = Payload(encoding: .bytes, storage: .inline(Array(plain.utf8)))
        let json = Payload(encoding: .json, storage: .inline(Array("{}".utf8)))
        let large = Payload(encoding: .text, storage: .blob(digest: [], size: 9))
        let received = Received.list([
            .value(bytes), .list([.value(text("ä\"\\\n")), .value(.void)]), .value(json), .value(large), .failure([]),
        ])
        #expect(
            received.json(upTo: 100).map { String(decoding: $0, as: UTF8.self) } == #"["\#(base64)",["ä\"\\\u000a",null],{},null,null]"#)
        #expect(received.json(upTo: 20) == nil)
    }

    @Test func duplicateInAnOrderedGroup_endsWhenItsTurnComes() {
        var cluster = cluster()
        cluster.submit(root(.op("z").unique("u"), .op("y").unique("v")), key: "1")
        cluster.submit(
            root(
                .op("a"), .op("b").unique("u"), .op("c"), .op("d").unique("v", joins: true), .op("e"), ordered: true), key: "2")
        #expect(cluster.state("b") == .blocked)
        cluster.end("a")
        #expect(cluster.state("b") == .failed)
        cluster.end("y", .success(text("v")))
        #expect(cluster.state("d") == .blocked, "it is not its turn")
        cluster.end("c")
        #expect(cluster.state("d") == .succeeded)
        #expect(cluster.holds("e"))
    }

    @Test func duplicateInAGroup_takesNoPlace_andComesAfterTheFailuresInItsErrors() {
        var cluster = cluster()
        cluster.submit(root(.op("z").unique("u")), key: "1")
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .group("g", [.op("a").unique("u"), .op("b").unique("u", joins: true), .op("c"), .op("d")], max: 1),
                    .op("e", receives: ["g"]),
                ]
            ).graph(), key: "2")
        cluster.end("g/c", failure("bad"))
        cluster.end("g/d")
        cluster.end("z")
        guard case .failure(let failures)? = cluster.find("e", on: nil)?.1.inputs.first else {
            Issue.record("nothing was received")
            return
        }
        #expect(failures.map(\.code) == [.operation, .duplicate])
    }

    @Test func ignoredDuplicate_isNotTriedAgain() {
        var cluster = cluster()
        cluster.submit(root(.op("z").unique("u")), key: "1")
        let second = cluster.submit(root(.op("a", retries: 3).unique("u")), key: "2") ?? ""
        #expect(outcome(&cluster, second, "a") == .failed)
        #expect(cluster.operations(of: second).last?.attempts == 0)
    }

    /// Who has joined a member would be told of an attempt that does not count.
    @Test func idInAGroupThatMayBeginAnew_isRefusedByName() {
        let text = "may begin anew (retry): others would wait for what does not count, and the id is free in between;"
        let remedy = "give the group the id, or its members a `retry` each instead of the group"
        func faults(_ sketch: Sketch) -> [String] { sketch.graph().faults().map { "\($0.path): \($0.message)" } }
        let inner = Sketch.group("h", [.op("a", retries: 3).unique("u")]).unique("v")
        #expect(
            faults(.group("root", [.group("g", [inner, .op("b")], retries: 1)])) == [
                "g/h: has a unique id, and `g` around it \(text) \(remedy)", "g/h/a: has a unique id, and `g` around it \(text) \(remedy)",
            ])
        let said = Sketch.group("g", [.op("a").unique("u")]).having { $0.say = SubmitterSay(retries: true) }
        #expect(faults(.group("root", [said])) == ["g/a: has a unique id, and `g` around it \(text) \(remedy)"])
        #expect(
            faults(.group("root", [.op("a").unique("u")], retries: 1)) == [
                "a: has a unique id, and a group around it \(text) \(remedy)"
            ])
        // The remedies.
        #expect(faults(.group("root", [Sketch.group("g", [.op("a")], retries: 1).unique("u")])) == [])
        #expect(faults(.group("root", [.group("g", [.op("a", retries: 1).unique("u")])])) == [])
    }

    /// So is what is added to such a group while it runs.
    @Test func idOfWhatIsProduced_intoAGroupThatMayBeginAnew_isRefused() {
        var cluster = cluster()
        cluster.submit(root(.group("g", [.op("a")], retries: 1)))
        cluster.end("g/a", .production(.void, .of(.op("x").unique("u"))))
        #expect(cluster.operations().count { $0.path.hasPrefix("g/") } == 1)
        #expect(cluster.operations().first { $0.path == "g" }?.lastFailure?.message.contains("may begin anew (retry)") == true)
    }

    @Test func duplicate_asksForNoLocks_andIsNotJudged() {
        var cluster = cluster()
        cluster.submit(root(.op("z", exclusive: [Exclusion(key: "k")]).unique("u")), key: "1")
        let duplicate = Sketch.op("a", exclusive: [Exclusion(key: "k")]).having {
            $0.unique = Uniqueness(id: "u", joins: true)
            $0.conditions = [Condition(.noCancelledDependencies, isNegated: true)]
            $0.delayMilliseconds = 50_000
        }
        let second = cluster.submit(root(duplicate), key: "2") ?? ""
        guard case .locks(let locks, _)? = cluster.ask(.locks(key: "", from: 0)) else { return }
        #expect(locks.map(\.waitingCount) == [0])
        cluster.end("z")
        #expect(outcome(&cluster, second, "a") == .succeeded)
    }

    // MARK: What cannot join

    @Test func firstThatWaitsForTheJoiner_leavesItIgnored() {
        var cluster = cluster()
        cluster.submit(
            root(
                .op("a", after: ["m"]).unique("u"), .op("m", after: ["b"]), .op("b").unique("u", joins: true)))
        #expect(cluster.state("b") == .failed)
        #expect(
            cluster.operations().last?.errors.first?.message.hasSuffix("and was active; it is not joined, as it waits for this one") == true
        )
        #expect(cluster.heldPaths == ["m"])
    }

    /// What has ended early in an ordered group does not end the waiting of those behind it for those before it.
    @Test func firstThatWaitsForTheJoiner_byAnOrderInWhichOneHasEndedEarly_leavesItIgnored() {
        var cluster = cluster()
        let id =
            cluster.submit(
                root(.op("z"), .group("g", [.op("j").unique("u", joins: true)]), .op("m"), .op("k"), .op("a").unique("u"), ordered: true))
            ?? ""
        _ = cluster.ask(.cancel(submission: id, path: "m", reason: "", now: false))
        _ = cluster.ask(.cancel(submission: id, path: "k", reason: "", now: false))
        cluster.end("z")
        #expect(errors(&cluster, id, "g/j").map(\.code) == [.duplicate])
        cluster.drain()
        #expect(outcome(&cluster, id, "a") == .succeeded)
    }

    @Test func joinersOfTwoSubmissions_thatWouldWaitForEachOther_areNotHung() {
        var cluster = cluster()
        func graph(_ own: String, joining other: String, after: [String]) -> Graph {
            let joiner = Sketch.group("g", [.group("j", [.op("y")]).unique(other, joins: true)], after: after)
            return root(.op("z"), .group("f", [.op("x", after: ["j"])]).unique(own), joiner)
        }
        let one = cluster.submit(graph("u", joining: "v", after: ["z"]), key: "1") ?? ""
        let two = cluster.submit(graph("v", joining: "u", after: []), key: "2") ?? ""
        #expect(outcome(&cluster, two, "g/j") == .blocked)
        cluster.end("z")
        // "j" of the first would wait for "v", whose "x" waits for the other "j", which has joined "u", whose "x" waits for it.
        #expect(errors(&cluster, one, "g/j").map(\.code) == [.duplicate])
        cluster.drain()
        #expect(outcome(&cluster, two, "") == .succeeded)
    }

    @Test func memberOfTheFirst_isIgnored() {
        var cluster = cluster()
        cluster.submit(root(.group("g", [.group("h", [.op("a")]).unique("u", joins: true)]).unique("u")))
        #expect(cluster.state("g/h") == .failed)
        #expect(cluster.state("") == .failed)
    }

    @Test func firstThatMayComeToWaitForTheJoiner_leavesItIgnored() {
        var cluster = cluster()
        let each = Sketch.forEach("e", of: "p", body: .op("x", after: ["j"]))
        cluster.submit(
            root(
                .op("p"), .group("f", [each]).unique("u"), .op("z"), .group("g", [.op("y")], after: ["z"]),
                .op("j").unique("u", joins: true)))
        #expect(cluster.state("j") == .failed, "the forEach in the first one is to wait for it")
    }

    @Test func joinerInsideAHeldLockScope_isIgnored_andWhoHoldsAKeyMayNotWaitForAJoiner() {
        var cluster = cluster()
        cluster.submit(root(.op("z").unique("u")), key: "1")
        let second = cluster.submit(root(.holding("g", "k", [.op("a").unique("u", joins: true)])), key: "2") ?? ""
        #expect(errors(&cluster, second, "g/a").map(\.code) == [.duplicate])
        #expect(errors(&cluster, second, "g/a").first?.message.contains("is inside of a group that holds locks") == true)
        let refused = root(.op("j").unique("u", joins: true), .holding("g", "k", [.op("a", after: ["j"])]))
        #expect(
            refused.faults().map { "\($0.path): \($0.message)" } == [
                "g/a: waits for `j`, which may join another operation (`onDuplicate`) and is not in `g`, while `g` holds keys;"
                    + " let `g` itself wait (`after`), or take the other into it"
            ])
    }

    @Test func otherKindOrOutput_isIgnored() {
        var cluster = cluster()
        func op(_ id: String, _ output: String, joins: Bool = true) -> Sketch {
            .op(id).having { $0.unique = Uniqueness(id: "u", joins: joins, output: output) }
        }
        cluster.submit(root(op("z", "String", joins: false)), key: "1")
        cluster.submit(root(op("a", "Data"), op("b", ""), op("c", "String"), .group("d", []).unique("u", joins: true)), key: "2")
        #expect(cluster.operations().dropFirst().map(\.state) == [.failed, .blocked, .blocked, .failed])
        #expect(cluster.operations()[1].errors.first?.message.contains("as it delivers another type") == true)
        #expect(cluster.operations()[4].errors.first?.message.contains("as one of them is a group") == true)
    }

    // MARK: forEach

    @Test func elements_haveTheirOwnIds() {
        var cluster = cluster()
        let each = Sketch.forEach(
            "e", of: nil, list: [#""a""#, #"{"n": "b\n", "m": {"k": [1, 2]}}"#, #""a""#, "3"],
            body: .op("x").having { $0.unique = Uniqueness(id: "$$-${item}", isTemplated: true) })
        cluster.submit(root(each))
        #expect(cluster.operations().dropFirst(2).map(\.uniqueID) == ["$-a", #"$-{"n": "b\n", "m": {"k": [1, 2]}}"#, "$-a", "$-3"])
        #expect(cluster.operations().dropFirst(2).map(\.state) == [.queued, .queued, .failed, .queued])
    }

    @Test(arguments: [
        ("${index}", "4"), ("${item.n}", "b\n\u{1F600}\u{E4}"), ("${item.m.k}", "[1, 2]"), ("${item.m}", #"{"k": [1, 2]}"#),
        ("${item.index}", "4"),
        ("${outer}", "null"), ("${outer.index}", "7"), ("a$b$$c${", "a$b$c${"),
    ])
    func templates_areRenderedLikeParameters(template: String, expected: String) {
        let bindings = [
            Binding(name: "outer", index: 7, element: Array("null".utf8)),
            Binding(name: "item", index: 4, element: Array(#" {"n" : "b\n\ud83d\ude00\u00e4","m":{"k": [1, 2]} } "#.utf8)),
        ]
        #expect(UniqueTemplate.render(template, bindings) == expected)
        #expect(UniqueTemplate.render("${item.x}", bindings) == nil)
        #expect(UniqueTemplate.render("${other}", bindings) == nil)
    }

    @Test(arguments: ["", "{", #"{""#, #"{"a"#, #"{"a":"#, #"{"a":"\u"#, #"{"a":"\ud800\u"}"#, #"{"a":]}"#, #"""#, "{]", #"{"a" "b" , ,}"#])
    func brokenElements_areSafe(element: String) {
        for template in ["${item}", "${item.a}", "${item.b.c}"] {
            _ = UniqueTemplate.render(template, [Binding(name: "item", index: 0, element: Array(element.utf8))])
        }
    }

    @Test func idThatCannotBeMade_failsTheElement() {
        var cluster = cluster()
        let each = Sketch.forEach(
            "e", of: nil, list: ["1"], body: .op("x").having { $0.unique = Uniqueness(id: "${item.no}", isTemplated: true) })
        cluster.submit(root(each, .op("b", after: ["e"])))
        #expect(errors(&cluster, "last", "e/0").map(\.code) == [.parameters])
        #expect(cluster.heldPaths == ["b"])
    }

    // MARK: Recovery, limits

    @Test func restart_keepsWhoHasWhat() throws {
        var cluster = cluster()
        let first = cluster.submit(root(.op("a").unique("u"), .op("b").unique("v")), key: "1") ?? ""
        let second = cluster.submit(root(.op("c").unique("u", joins: true)), key: "2") ?? ""
        cluster.end("b")
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        #expect(cluster.operations(of: second)[1].joinedTo == "\(first)/a")
        cluster.submit(root(.op("d").unique("u"), .op("e").unique("v")), key: "3")
        #expect(cluster.operations().map(\.state) == [.running, .failed, .queued])
        cluster.end("a")
        #expect(outcome(&cluster, second, "") == .succeeded)
    }

    @Test func cancelledWholes_freeTheirIds() {
        var cluster = cluster()
        let first = cluster.submit(
            root(.op("z"), .op("a", after: ["z"]).unique("u"), .group("g", [.op("b")], after: ["z"]).unique("v")), key: "1")
        _ = cluster.ask(.cancel(submission: first ?? "", path: "", reason: "", now: true))
        cluster.submit(root(.op("c").unique("u"), .op("d").unique("v")), key: "2")
        #expect(cluster.heldPaths == ["z", "c", "d"])
    }

    /// Nothing is written of who had joined whom, and of what was kept, where there is nothing.
    @Test func snapshotsOfTheThirteenthLayout_areRead_andLaterOnesSayWhoHadJoinedWhom() throws {
        func sections(_ scheduler: Scheduler) -> [[UInt8]] {
            var sections: [[UInt8]] = []
            scheduler.writeSnapshot { sections.append($0) }
            return sections
        }
        var cluster = cluster()
        func scheduler(reading sections: [[UInt8]]) throws -> Scheduler {
            var scheduler = Scheduler(cluster.configuration)
            for section in sections { try scheduler.restore(section: section[...]) }
            return scheduler
        }
        func folded() throws -> Scheduler {
            var scheduler = Scheduler(cluster.configuration)
            for fact in cluster.journal { try scheduler.restore(fact) }
            return scheduler
        }
        cluster.submit(root(.op("a").unique("u")), key: "1")
        cluster.submit(root(.op("b").unique("u", joins: true)), key: "2")
        let before = try sections(folded())
        var thirteenth = before
        thirteenth[0][0] = 13
        let again = try sections(scheduler(reading: thirteenth))
        #expect(before[0][0] == 15 && again == before)
        cluster.end("a")
        let after = try scheduler(reading: sections(folded()))
        #expect(after.durable.submissions[1].joinedUnits == [1: UnitID(SubmissionNumber(1), 1)])
    }

    @Test func manyJoiners_allEnd() {
        var cluster = cluster()
        cluster.submit(root(.op("z").unique("u")), key: "1")
        cluster.submit(root(.forEach("e", of: nil, list: (0..<2_000).map(String.init), body: .op("x").unique("u", joins: true))), key: "2")
        cluster.end("z", .success(text("v")))
        #expect(cluster.view()?.counts.succeeded == 2_000)
        #expect(cluster.dispatched == ["z"])
    }

    @Test func faults_areNamed() {
        let graph = root(
            .op("a").unique(""), .op("b").unique(String(repeating: "x", count: 257)),
            .forEach("e", of: nil, list: [], body: .op("x")).unique("u"))
        #expect(
            graph.faults().map { "\($0.path): \($0.message)" } == [
                "a: has an empty unique id; give it a name", "b: has a unique id of 257 bytes, more than the limit of 256",
                "e: a forEach has no unique id itself; give it to its body, or to a group around it",
            ])
    }

    @Test func options_surviveTheJournal() throws {
        var options = NodeOptions()
        options.unique = Uniqueness(id: "ü${item}", isTemplated: true, joins: true, output: "String")
        let graph = root(.op("a").having { $0 = options }, .op("b").unique("v"), .op("c"))
        let fact = Fact.submitted(
            Admission(number: SubmissionNumber(1), id: "i", key: "k", name: "n", graph: graph, at: 5))
        #expect(try FactCodec.decode(FactCodec.encode(fact)[...]) == fact)
    }
}

extension Sketch {
    func unique(_ id: String, joins: Bool = false) -> Sketch { having { $0.unique = Uniqueness(id: id, joins: joins) } }
}
