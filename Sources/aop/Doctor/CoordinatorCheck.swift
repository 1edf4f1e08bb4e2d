import Cluster
import Wire

/// Whether the coordinator answers, who works for it, and whether all are of one release.
struct CoordinatorCheck: Sendable {
    let endpoint: Endpoint
    let choice: KeyChoice
    let connectTimeout: DurationArgument

    func findings() async -> (findings: [Finding], isConnected: Bool) {
        let connection: ClusterConnection
        do {
            let key = try choice.key(for: endpoint, names: KeyDirectory.clientFiles)
            // None is made: without one there is no coordinator of this user.
            let cookie = endpoint.isLoopback && key == nil ? try Cookie.load() : nil
            connection = try await ClusterConnection.connect(
                to: endpoint, cookie: cookie, key: key, connectTimeout: connectTimeout.duration)
        } catch is KeyError {
            return ([Finding(.coordinator, .warning, "not asked, for want of a key that can be used", remedy: "see keys above")], false)
        } catch is CookieError {
            return (
                [Finding(.coordinator, .warning, "not asked, for want of a cookie that can be used", remedy: "see cookie above")], false
            )
        } catch {
            let endpoint = endpoint
            // Nothing where the command is ended meanwhile.
            if let trouble = try? await OwnThread.run({ HostNames.trouble(of: endpoint) }) { return ([trouble], false) }
            return ([Finding(.coordinator, message: ToolError(error).message)], false)
        }
        var findings: [Finding] = []
        let version = connection.welcome?.productVersion ?? ""
        findings.append(Self.coordinator(endpoint, version: version))
        do {
            let workers = try await connection.workers()
            findings += Self.workers(workers, version: version)
            findings += Self.clock(workers, now: WallClock.milliseconds())
            findings += Self.clocks(ofWorkers: workers)
        } catch {
            // Who may only submit does not see them.
            findings.append(Finding(.workers, .warning, message: ToolError(error).message))
        }
        await connection.close()
        return (findings, true)
    }

    // MARK: What is made of it

    static func coordinator(_ endpoint: Endpoint, version: String) -> Finding {
        guard version != ProductVersion.current else { return Finding(.coordinator, .ok, "\(endpoint) answers: aop \(version)") }
        return Finding(
            .coordinator, .warning, "\(endpoint) answers, and is aop \(version), while this is aop \(ProductVersion.current)",
            remedy: "install the same release on both hosts")
    }

    static func workers(_ workers: [WireWorkerView], version: String) -> [Finding] {
        let attached = workers.filter { $0.state == "attached" }
        var findings: [Finding] = []
        let drained = workers.filter(\.hasDrain)
        if attached.isEmpty, let first = drained.first {
            let named = drained.prefix(namedMax).map(\.id).joined(separator: ", ")
            findings.append(
                Finding(
                    .workers, .warning, "none takes work, what is submitted waits; drained: \(named)\(more(drained.count))",
                    remedy: "aop workers resume \(first.givenName)"))
        } else if attached.isEmpty {
            findings.append(Finding(.workers, .warning, "none is attached: what is submitted waits", remedy: "start one with `aop worker`"))
        } else {
            let slots = attached.reduce(0) { $0 + Int($1.slots) }
            let hosts = Set(attached.map(\.host)).count
            findings.append(
                Finding(.workers, .ok, "\(attached.count) attached on \(hosts) host\(hosts == 1 ? "" : "s"), with \(slots) slots"))
        }
        findings += state("silent", of: workers, "not heard any more", "look whether their host is up, and reaches the coordinator")
        findings += state("limited", of: workers, "there, but may not do what they need", "aop keys list shows what their key may do")
        findings += state("revoked", of: workers, "there, but had their key revoked", "stop them, or give them a key with aop keys token")
        let others = workers.filter { !$0.version.isEmpty && $0.version != version }
        if !others.isEmpty {
            let named = others.prefix(namedMax).map { "\($0.id) (aop \($0.version))" }.joined(separator: ", ")
            findings.append(
                Finding(
                    .workers, .warning, "of another release than the coordinator (aop \(version)): \(named)\(more(others.count))",
                    remedy: "install the same release on all hosts"))
        }
        return findings
    }

    private static func state(_ state: String, of workers: [WireWorkerView], _ what: String, _ remedy: String) -> [Finding] {
        let those = workers.filter { $0.state == state }
        guard !those.isEmpty else { return [] }
        let named = those.prefix(namedMax).map(\.id).joined(separator: ", ")
        return [Finding(.workers, .warning, "\(what): \(named)\(more(those.count))", remedy: remedy)]
    }

    private static let namedMax = 5

    private static func more(_ count: Int) -> String { count > namedMax ? " and \(count - namedMax) more" : "" }

    /// An attached worker is heard within its lease, by the coordinator's clock: that is how far the clocks can be told apart. Empty:
    /// there is none that tells.
    static func clock(_ workers: [WireWorkerView], now: Int64) -> [Finding] {
        guard let heard = workers.filter({ $0.state == "attached" }).map(\.lastHeard).max(), heard > 0 else { return [] }
        let behind = now - heard
        guard behind < -clockMilliseconds || behind > leaseMilliseconds + clockMilliseconds else {
            return [Finding(.clock, .ok, "within some seconds of the coordinator's")]
        }
        return [
            Finding(
                .clock, .warning, "this host's clock is about \(difference(behind)) the coordinator's: times and ages are shown wrong",
                remedy: clockRemedy)
        ]
    }

    /// The hosts whose workers' heartbeats tell another time than the coordinator's clock.
    static func clocks(ofWorkers workers: [WireWorkerView]) -> [Finding] {
        var offsets: [String: Int64] = [:]
        for worker in workers where worker.clockOffset.magnitude > UInt64(clockMilliseconds) { offsets[worker.host] = worker.clockOffset }
        guard !offsets.isEmpty else { return [] }
        let named = offsets.sorted { $0.key < $1.key }.prefix(namedMax).map { "\($0.key)'s is about \(difference($0.value)) it" }
        return [
            Finding(
                .clock, .warning,
                "not the coordinator's: \(named.joined(separator: ", "))\(more(offsets.count)); when operations began and ended there is told wrong",
                remedy: clockRemedy)
        ]
    }

    private static let clockRemedy = "keep both with NTP, e.g. apt-get install systemd-timesyncd"

    /// "3 min ahead of".
    private static func difference(_ milliseconds: Int64) -> String {
        let seconds = Double(milliseconds.magnitude) / 1000
        let (number, unit) = seconds < 120 ? (seconds, "s") : (seconds / 60, "min")
        return "\(Int(number.rounded())) \(unit) \(milliseconds < 0 ? "behind" : "ahead of")"
    }

    /// A worker that was not heard for so long is not attached.
    private static let leaseMilliseconds: Int64 = 3_000
    /// More is told.
    private static let clockMilliseconds: Int64 = 5_000
}
