import Scheduling
import Testing

/// What those who look are shown of locks.
@Suite struct LockViewTests {
    private func locks(_ cluster: inout FakeCluster, key: String = "") -> [LockView] {
        var found: [LockView] = []
        var from = 0
        repeat {
            guard case .locks(let page, let next)? = cluster.ask(.locks(key: key, from: from)) else {
                Issue.record("no locks")
                return found
            }
            found += page
            from = next
        } while from > 0
        return found
    }

    private func inTheWay(of path: String, _ cluster: inout FakeCluster) -> [LockView] {
        cluster.operations().first { $0.path == path }?.locks ?? []
    }

    @Test func lock_isShownWithItsHolder_itsTokenAndTheLine() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        let id =
            cluster.submit(
                Sketch.group("root", [.keyed("a", "db", "net"), .keyed("b", "db"), .keyed("c", "db", "other")]).graph()) ?? ""
        let taken = cluster.now.wall
        cluster.advance(1_000)
        let views = locks(&cluster)
        #expect(views.map(\.key) == ["db", "net", "other"])
        let token = try #require(cluster.find("a", on: nil)?.1.fences.first?.token)
        let holder = views[0].holders[0]
        #expect(holder.operation == "\(id)/a" && holder.worker == "h/1" && holder.token == token && holder.since == taken)
        #expect(views[0].waiting.map(\.operation) == ["\(id)/b", "\(id)/c"])
        #expect(views[0].waiting.allSatisfy { $0.since == taken })
        #expect(views[0].holderCount == 1 && views[0].waitingCount == 2 && views[0].limit == 1 && views[0].scope == "")
        // Nobody is overtaken: "c" waits for "db", and nobody behind it gets "other".
        #expect(views[2].holders == [] && views[2].waiting.map(\.operation) == ["\(id)/c"])
        #expect(locks(&cluster, key: "db") == [views[0]])
        #expect(locks(&cluster, key: "nobody's") == [])
    }

    @Test func holderBetweenTwoAttempts_hasNoToken_andStillHoldsSinceItsFirst() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.keyed("a", "db", retries: 1)]).graph())
        let taken = cluster.now.wall
        cluster.advance(100)
        cluster.end("a", failure("no"))
        let view = locks(&cluster)[0]
        #expect(view.holders.map(\.token) == [0] && view.holders.map(\.worker) == [""] && view.holders.map(\.since) == [taken])
    }

    @Test func lockingOperation_isShownWithTheLocksInItsWay_andNoOthers() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        let id =
            cluster.submit(
                Sketch.group("root", [.keyed("a", "x"), .keyed("b", "x", "y", "free"), .keyed("c", "y"), .keyed("d", "x")]).graph()) ?? ""
        #expect(inTheWay(of: "a", &cluster) == [])
        #expect(inTheWay(of: "b", &cluster).map(\.key) == ["x"])
        #expect(inTheWay(of: "b", &cluster).first?.holders.map(\.operation) == ["\(id)/a"])
        #expect(inTheWay(of: "c", &cluster).map(\.waiting.first?.operation) == ["\(id)/b"])
        #expect(inTheWay(of: "d", &cluster).map(\.waitingCount) == [2])
    }

    @Test func memberOfAGroupThatHoldsTheKey_waitsInsideOfThatGroup() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        let id = cluster.submit(Sketch.group("root", [.holding("g", "x", [.keyed("a", "x"), .keyed("b", "x")])]).graph()) ?? ""
        #expect(locks(&cluster).map { $0.holders.map(\.operation) } == [["\(id)/g"]])
        let way = inTheWay(of: "g/b", &cluster)
        #expect(way.map(\.scope) == ["\(id)/g"])
        #expect(way.first?.holders.map(\.operation) == ["\(id)/g/a"])
    }

    @Test func manyLocks_comeInPages_eachOnce() {
        var configuration = Scheduler.Configuration()
        configuration.pageBytes = 400
        var cluster = FakeCluster(configuration)
        cluster.attach(1, slots: 50)
        cluster.submit(Sketch.group("root", (0..<20).map { .keyed("o\($0)", "k\($0)") }).graph())
        cluster.end("o0")
        #expect(locks(&cluster).map(\.key) == (1..<20).map { "k\($0)" })
    }

    @Test func restart_keepsWhoHoldsSinceWhen() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.keyed("a", "db"), .keyed("b", "db")]).graph())
        cluster.advance(5_000)
        let before = locks(&cluster)
        try cluster.restart()
        #expect(locks(&cluster) == before)
    }
}
