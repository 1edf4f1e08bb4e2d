import Scheduling
import Testing

/// Who may ask for what, and whose a submission is.
@Suite struct PrincipalTests {
    private let ann = Authority(principal: "ann", roles: ["submit"], maySubmit: true, mayObserve: false, mayAdminister: false)
    private let bob = Authority(principal: "bob", roles: ["submit"], maySubmit: true, mayObserve: false, mayAdminister: false)
    private let eve = Authority(principal: "eve", roles: ["observe"], maySubmit: false, mayObserve: true, mayAdminister: false)
    private let root = Authority(principal: "root", roles: ["admin"], maySubmit: true, mayObserve: true, mayAdminister: true)
    private let worker = Authority(principal: "w", roles: ["work"], maySubmit: false, mayObserve: false, mayAdminister: false)

    private var graph: Graph { Sketch.group("root", [.op("a")]).graph() }

    private func submit(_ cluster: inout FakeCluster, by authority: Authority, key: String = "key", _ graph: Graph? = nil) throws -> String
    {
        guard
            case .submitted(let id, _)? = cluster.ask(
                .submit(key: key, name: "", graph: ExaminedGraph(graph ?? self.graph), waitForWorkers: true), by: authority)
        else { throw Refused() }
        return id
    }

    private struct Refused: Error {}

    private func refusal(_ reply: Reply?) -> String? {
        if case .failed(.notPermitted(let message))? = reply { message } else { nil }
    }

    private func missing(_ reply: Reply?) -> String? {
        if case .failed(.notFound(let message))? = reply { message } else { nil }
    }

    @Test func submitters_seeAndSteerTheirOwnOnly_andAreToldWho_withWhatRole_mayNotWhat() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let (anns, bobs) = (try submit(&cluster, by: ann), try submit(&cluster, by: bob))
        #expect(anns != bobs, "a key belongs to its principal")
        for request: Request in [
            .cancel(submission: bobs, path: "", reason: "", now: false), .pause(submission: bobs, path: ""),
            .resume(submission: bobs, path: ""), .retry(submission: bobs, key: "x", force: false), .show(submission: bobs),
            .follow(submission: bobs), .locate(submission: bobs, path: ""), .locateOperation(submission: bobs, path: "a"),
            .operations(OperationQuery(submission: bobs, path: "", from: 0, limit: 0, withValues: true, failedOnly: false)),
        ] {
            let message = refusal(cluster.ask(request, by: ann))
            #expect(message?.contains("`ann` (submit) may not") == true && message?.contains("belongs to `bob`") == true, "\(request)")
        }
        #expect(cluster.operations(of: bobs).map(\.state) == [.running, .queued])
        guard case .submission(let last)? = cluster.ask(.show(submission: "last"), by: ann) else { throw Refused() }
        #expect(last.id == anns && last.principal == "ann")
        guard case .submission(let keyed)? = cluster.ask(.show(submission: "key=key"), by: bob) else { throw Refused() }
        #expect(keyed.id == bobs)
        guard case .submissions(let listed, let more)? = cluster.ask(.list(before: "", limit: 1), by: ann) else { throw Refused() }
        #expect(listed.map(\.id) == [anns] && !more)
        guard case .cancelAccepted? = cluster.ask(.cancel(submission: anns, path: "", reason: "", now: false), by: ann) else {
            throw Refused()
        }
    }

    /// What others have submitted is there, and not for it.
    @Test func last_ofOneWhoMayReadNothing_saysWhoItIs_andWhatItTakes() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        #expect(missing(cluster.ask(.show(submission: "last"), by: ann)) == "there is no submission yet")
        _ = try submit(&cluster, by: bob)
        for request: Request in [.show(submission: "last"), .explain(submission: "last", path: ""), .follow(submission: "last")] {
            let message = try #require(refusal(cluster.ask(request, by: ann)))
            #expect(message.hasPrefix("`ann` (submit) may not read any submission that is there"), "\(message)")
            #expect(message.contains("; that takes the role `observe`"), "\(message)")
        }
        let keyed = missing(cluster.ask(.show(submission: "key=key"), by: ann))
        #expect(keyed == "no submission of yours has the key `key`; `aop list` shows those there are")
    }

    /// That a lock is taken everybody who waits for it sees, and by whom only who may read that.
    @Test func holdersOfLocks_areNamedToThoseWhoMayReadThem_only() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let locked = Sketch.group("root", [.keyed("secret", "db")]).graph()
        let bobs = try submit(&cluster, by: bob, locked)
        let anns = try submit(&cluster, by: ann, Sketch.group("root", [.keyed("mine", "db"), .keyed("next", "db")]).graph())
        func blockers(_ path: String, _ authority: Authority) throws -> [Blocker] {
            guard case .explanation(let explanation)? = cluster.ask(.explain(submission: anns, path: path), by: authority) else {
                throw Refused()
            }
            return explanation.blockers
        }
        func told(_ path: String, _ authority: Authority) throws -> String {
            let texts = try blockers(path, authority).map { $0.text(now: cluster.now.wall) + $0.remedy(for: "x") }
            guard case .explanation(let whole)? = cluster.ask(.explain(submission: anns, path: ""), by: authority),
                case .operations(let views, _, _)? = cluster.ask(
                    .operations(OperationQuery(submission: anns, path: path, from: 0, limit: 0, withValues: true, failedOnly: false)),
                    by: authority)
            else { throw Refused() }
            return (texts + whole.inside.map(\.text) + ["\(whole)", "\(views)"]).joined(separator: "\n")
        }
        for path in ["mine", "next"] {
            let anns = try told(path, ann)
            #expect(anns.contains("held by another's operation since ") && !anns.contains(bobs) && !anns.contains("secret"), "\(anns)")
            #expect(anns.contains("who has the role `observe` sees whose that is, with `aop locks show db`"))
            for reader in [eve, root] { #expect(try told(path, reader).contains("held by \(bobs)/secret on h/1 with the token ")) }
        }
        guard case .lock(let wait)? = try blockers("next", ann).first else { throw Refused() }
        #expect(wait.lock.holders.map(\.operation) == [""] && wait.lock.holders.map(\.token) == [0] && wait.ahead == 1)
        #expect(wait.lock.waiting.map(\.operation) == ["\(anns)/mine", "\(anns)/next"], "one's own are named")
    }

    @Test func uniqueIDs_belongToTheirPrincipal_alsoAfterARestart() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let graph = Sketch.group("root", [.op("a").unique("deploy", joins: true)]).graph()
        let (anns, bobs) = (try submit(&cluster, by: ann, graph), try submit(&cluster, by: bob, graph))
        for id in [anns, bobs] { #expect(cluster.operations(of: id).map(\.state) == [.running, .queued]) }
        let next = try submit(&cluster, by: bob, key: "next", graph)
        #expect(cluster.operations(of: next).last?.joinedTo == "\(bobs)/a")
        try cluster.restart()
        cluster.reattach(1, slots: 4)
        #expect(cluster.operations(of: next).last?.joinedTo == "\(bobs)/a")
        guard case .cancelAccepted? = cluster.ask(.cancel(submission: bobs, path: "", reason: "", now: true), by: bob) else {
            throw Refused()
        }
        #expect(cluster.operations(of: anns).map(\.state) == [.running, .running], "another's operation is left alone")
    }

    @Test func snapshotsOfTheSecondLayout_giveUniqueIDsToWhoseTheyAre() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let graph = Sketch.group("root", [.op("a").unique("deploy", joins: true)]).graph()
        _ = try submit(&cluster, by: ann, graph)
        _ = try submit(&cluster, by: ann, key: "joins", graph)
        var scheduler = Scheduler(cluster.configuration)
        for fact in cluster.journal.ofTheFirstRules { try scheduler.restore(fact) }
        var sections: [[UInt8]] = []
        scheduler.writeSnapshot { sections.append($0) }
        // It did not say whose an id is: a text is its length and its bytes.
        let key: [UInt8] = [3] + Array("ann".utf8) + [6] + Array("deploy".utf8)
        let place = try #require(sections[0].firstRange(of: key))
        var second = sections[0]
        second.removeSubrange(place.lowerBound..<place.lowerBound + 4)
        var restored = Scheduler(cluster.configuration)
        for section in [second.ofLayout(2)] + sections.dropFirst() { try restored.restore(section: section[...]) }
        var again: [[UInt8]] = []
        restored.writeSnapshot { again.append($0) }
        #expect(again == sections)
    }

    @Test func observersReadAll_andChangeNothing_adminsMayDoEverything_workersAskForNothing() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let anns = try submit(&cluster, by: ann)
        for reader in [eve, root] {
            guard case .submission? = cluster.ask(.show(submission: anns), by: reader), case .workers? = cluster.ask(.workers, by: reader),
                case .locks? = cluster.ask(.locks(key: "", from: 0), by: reader),
                case .submissions(let all, _)? = cluster.ask(.list(before: "", limit: 0), by: reader)
            else { throw Refused() }
            #expect(all.map(\.id) == [anns])
        }
        #expect(
            refusal(cluster.ask(.cancel(submission: anns, path: "", reason: "", now: false), by: eve))?.contains("role `submit`") == true)
        #expect(refusal(cluster.ask(.releaseLock(key: "k", holders: [], reason: "", now: true), by: ann))?.contains("role `admin`") == true)
        #expect(refusal(cluster.ask(.workers, by: ann))?.contains("list the workers; that takes the role `observe`") == true)
        for request: Request in [
            .show(submission: anns), .list(before: "", limit: 0), .workers, .check(graph: graph, waitForWorkers: true),
        ] {
            #expect(refusal(cluster.ask(request, by: worker)) != nil)
        }
        guard case .lockReleased? = cluster.ask(.releaseLock(key: "k", holders: [], reason: "", now: true), by: root),
            case .cancelAccepted? = cluster.ask(.cancel(submission: anns, path: "", reason: "", now: false), by: root)
        else { throw Refused() }
    }

    @Test func ownership_andKeys_surviveARestart() throws {
        var cluster = FakeCluster()
        let anns = try submit(&cluster, by: ann)
        let (own, others) = (try submit(&cluster, by: .unlimited), try submit(&cluster, by: bob))
        try cluster.restart()
        #expect(refusal(cluster.ask(.cancel(submission: anns, path: "", reason: "", now: false), by: bob)) != nil)
        #expect(refusal(cluster.ask(.show(submission: own), by: bob))?.contains("belongs to the coordinator's own user") == true)
        for (authority, id) in [(ann, anns), (bob, others), (.unlimited, own)] {
            #expect(try submit(&cluster, by: authority) == id)
        }
    }

    @Test func limits_refuseOperationsAndConditionsByName_alsoOfWhatIsProduced() throws {
        var limited = ann
        limited.operations = ["noop", "fileExists"]
        var cluster = FakeCluster()
        cluster.attach(1)
        let probe = Condition(.probe(Probe(type: "command", parameters: 0)))
        let graph = Sketch.group("root", [.op("a", type: "shell"), Sketch.op("b", type: "noop").having { $0.conditions = [probe] }]).graph()
        for request: Request in [
            .submit(key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: true), .check(graph: graph, waitForWorkers: true),
        ] {
            let errors: [AdmissionError] =
                switch cluster.ask(request, by: limited) {
                case .failed(.refused(_, let errors))?: errors
                case .checked(let errors)?: errors
                default: []
                }
            #expect(errors.map(\.path) == ["a", "b"])
            #expect(errors.first?.message.contains("`shell` may not be submitted") == true)
            #expect(errors.last?.message.contains("`command` may not be submitted") == true)
        }
        _ = try submit(&cluster, by: limited, Sketch.group("root", [.op("p", type: "noop")]).graph())
        try cluster.restart()
        cluster.attach(1)
        let (owner, unit) = try #require(cluster.find("p", on: nil))
        let peer = try #require(cluster.peers[owner])
        let addition = Addition(id: "x", graph: Sketch.group("", [.op("x", type: "shell")]).graph(), products: [1])
        cluster.step([
            .started(peer, unit.unit, unit.attempt, at: cluster.now.wall), .produced(peer, unit.unit, unit.attempt, number: 1, addition),
        ])
        let problems = cluster.sends.flatMap { send -> [String?] in
            if case .productReceipts(let receipts) = send.message { receipts.map(\.problem) } else { [] }
        }
        #expect(problems.count == 1 && problems.first??.contains("`shell` may not be submitted") == true, "\(problems)")
    }
}
