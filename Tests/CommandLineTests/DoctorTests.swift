import Glibc
import Testing
import Wire

@testable import aop

/// What `aop doctor` makes of what it has seen.
@Suite struct DoctorTests {
    private func worker(
        _ id: String, _ state: String = "attached", version: String = ProductVersion.current, heard: Int64 = 100_000
    )
        -> WireWorkerView
    {
        .with {
            $0.id = id
            $0.host = String(id.split(separator: "/")[0])
            $0.state = state
            $0.slots = 4
            $0.version = version
            $0.lastHeard = heard
        }
    }

    private func lines(_ findings: [Finding]) -> [String] { findings.map { "\($0.status.rawValue): \($0.text)" } }

    @Test func workersThatAreThere_areCounted_othersAreNamed() {
        let found = CoordinatorCheck.workers(
            [worker("a/0"), worker("a/1"), worker("b/0"), worker("c/0", "silent"), worker("d/0", "limited"), worker("e/0", "revoked")],
            version: ProductVersion.current)
        #expect(
            lines(found) == [
                "ok: 3 attached on 2 hosts, with 12 slots", "warning: not heard any more: c/0",
                "warning: there, but may not do what they need: d/0", "warning: there, but had their key revoked: e/0",
            ])
        #expect(found.dropFirst().allSatisfy { $0.remedy?.isEmpty == false })
    }

    @Test func noWorkers_isAWarning() {
        #expect(lines(CoordinatorCheck.workers([], version: "1")) == ["warning: none is attached: what is submitted waits"])
    }

    @Test func workersThatAreAllDrained_areNamed_withWhatLetsThemTakeWork() {
        func drained(_ id: String) -> WireWorkerView {
            var view = worker(id, "drained")
            view.givenName = id
            view.drain.since = 1
            return view
        }
        let found = CoordinatorCheck.workers([drained("a/0"), drained("a/1")], version: ProductVersion.current)
        #expect(lines(found) == ["warning: none takes work, what is submitted waits; drained: a/0, a/1"])
        #expect(found.first?.remedy == "aop workers resume a/0")
        #expect(
            lines(CoordinatorCheck.workers([drained("a/0"), worker("b/0")], version: ProductVersion.current)) == [
                "ok: 1 attached on 1 host, with 4 slots"
            ])
    }

    @Test func otherReleases_areNamed_whereTheyAreKnown() {
        let found = CoordinatorCheck.workers(
            [worker("a/0", version: "0.9"), worker("b/0"), worker("c/0", version: "")], version: ProductVersion.current)
        #expect(lines(found).last == "warning: of another release than the coordinator (aop \(ProductVersion.current)): a/0 (aop 0.9)")
        let many = CoordinatorCheck.workers((0..<7).map { worker("h\($0)/0", version: "0.9") }, version: "1.0")
        #expect(lines(many).last?.hasSuffix("h4/0 (aop 0.9) and 2 more") == true, "\(many)")
        #expect(CoordinatorCheck.coordinator(.standard, version: ProductVersion.current).status == .ok)
        let other = CoordinatorCheck.coordinator(.standard, version: "0.9")
        #expect(other.status == .warning && other.text.contains("is aop 0.9, while this is aop \(ProductVersion.current)"))
    }

    /// A coordinator that listens on all addresses is reached by one of them.
    @Test(arguments: [
        ("tcp://127.0.0.1:7600", "tcp://127.0.0.1:7600", true), ("tcp://0.0.0.0:7600", "tcp://127.0.0.1:7600", true),
        ("tcp://[::]:7600", "tcp://127.0.0.1:7600", true), ("tcp://127.0.0.1:7600", "tcp://localhost:7600", true),
        ("tcp://0.0.0.0:7600", "tcp://127.0.0.1:7601", false), ("tcp://0.0.0.0:7600", "tcp://203.0.113.7:7600", false),
        ("tcp://127.0.0.1:7600", "tcp://203.0.113.7:7600", false), ("tcp://0.0.0.0:7600", nil, false),
    ])
    func portOfTheCoordinatorThatAnswers_isItsOwn(_ listen: String, _ running: String?, _ isItsOwn: Bool) throws {
        let answering = try running.map { text in try Endpoint(text) }
        #expect(PortCheck.isAnswered(at: try Endpoint(listen), by: answering) == isItsOwn)
    }

    /// Names are connected to by their IPv4 addresses; addresses are not asked about.
    @Test(arguments: [
        ("tcp://four:7600", [AF_INET], nil), ("tcp://both:7600", [AF_INET, AF_INET6], nil), ("tcp://[fd00::7]:7600", [], nil),
        ("ipc:///run/aop", [], nil), ("tcp://none:7600", [], "the name none stands for no address"),
        ("tcp://six:7610", [AF_INET6], "the name six stands for IPv6 addresses alone, and names are taken for IPv4"),
    ])
    func nameThatNobodyCanBeReachedBy_isSaid(_ endpoint: String, _ families: [Int32], _ text: String?) throws {
        let found = HostNames.trouble(of: try Endpoint(endpoint)) { _, family in families.contains(family) }
        #expect(found?.text == text)
        if families == [AF_INET6] { #expect(found?.remedy == "write the address (getent ahostsv6 six): tcp://[ADDRESS]:7610") }
    }

    /// The newest word of an attached worker is at most a lease old, by the coordinator's clock.
    @Test(arguments: [
        (0, "ok"), (3_000, "ok"), (-4_000, "ok"), (60_000, "60 s ahead of"), (-60_000, "60 s behind"), (7_200_000, "120 min ahead of"),
    ])
    func clocksThatDiffer_areTold(_ difference: Int64, _ expected: String) {
        let found = CoordinatorCheck.clock([worker("a/0", heard: 50), worker("b/0")], now: 100_000 + difference)
        #expect(found.count == 1)
        #expect(lines(found).first?.contains(expected) == true, "\(found)")
        #expect(CoordinatorCheck.clock([worker("a/0", "silent")], now: 100_000 + difference).isEmpty)
    }

    @Test func clocksOfWorkersHosts_areTold_onceForAHost() {
        func beating(_ id: String, _ offset: Int64) -> WireWorkerView {
            var view = worker(id)
            view.clockOffset = offset
            return view
        }
        let found = CoordinatorCheck.clocks(
            ofWorkers: [beating("a/0", 180_000), beating("a/1", 180_020), beating("b/0", 4_000), beating("c/0", -60_000)])
        #expect(
            lines(found) == [
                "warning: not the coordinator's: a's is about 3 min ahead of it, c's is about 60 s behind it; when operations began and ended there is told wrong"
            ])
        #expect(CoordinatorCheck.clocks(ofWorkers: [beating("a/0", 5_000), beating("b/0", -5_000)]).isEmpty)
    }

    @Test func freeSpace_isMeasuredAgainstTheReserve() {
        let check = DataCheck(path: "/data", reserve: 1 << 30)
        #expect(check.space(free: 10 << 30) == Finding(.data, .ok, "10.0 GiB are free for it"))
        #expect(check.space(free: 3 << 29).status == .warning)
        let short = check.space(free: 1 << 29)
        #expect(short.status == .error && short.text.contains("0.5 GiB are free for /data, less than the 1.0 GiB of disk-reserve"))
        #expect(DataCheck(path: "/data", reserve: 0).space(free: 1).status == .ok)
    }

    @Test func lowLimits_areToldWithWhatRaisesThem() {
        #expect(LimitCheck.openFiles(1024).status == .warning && LimitCheck.openFiles(1024).remedy?.contains("LimitNOFILE=") == true)
        #expect(LimitCheck.openFiles(.max).text.hasPrefix("any number of"))
        #expect(LimitCheck.processes(100).status == .warning && LimitCheck.processes(100_000).status == .ok)
        #expect(LimitCheck.shell(path: "/nonesuch/sh").status == .error)
    }

    @Test func messagesOfErrors_areSplitIntoWhatHappenedAndWhatToDo() {
        #expect(Finding(.keys, message: "it is so; do this; or that") == Finding(.keys, .error, "it is so", remedy: "do this; or that"))
        #expect(Finding(.keys, .warning, message: "it is so").remedy == nil)
    }

    @Test func summary_countsAndDecidesTheExitCode() {
        let (ok, warning, error) = (
            Finding(.data, .ok, "fine"), Finding(.data, .warning, "soon full"), Finding(.data, .error, "full", remedy: "rm")
        )
        #expect(Diagnosis(findings: [ok]).summary == "nothing is wrong" && Diagnosis(findings: [ok]).exitStatus == .success)
        #expect(Diagnosis(findings: [ok, warning]).summary == "1 warning" && Diagnosis(findings: [ok, warning]).exitStatus == .success)
        let wrong = Diagnosis(findings: [ok, error, error, warning])
        #expect(wrong.summary == "2 errors, 1 warning" && wrong.exitStatus == .toolError)
        #expect(
            Diagnosis(findings: [ok, error]).text(Style(isEnabled: false))
                == "ok       data           fine\nerror    data           full\n                        → rm\n")
    }
}
