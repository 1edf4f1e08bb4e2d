import Foundation
import Testing

/// Workers of one machine that stand for hosts: each a supervisor with executors.
final class ChaosHost {
    let process: RunningProcess
    let supervisor: Int32

    private init(_ process: RunningProcess, _ supervisor: Int32) { (self.process, self.supervisor) = (process, supervisor) }

    static func start(_ harness: ProcessHarness, processes: Int, slots: Int) async throws -> ChaosHost {
        let process = harness.start(
            BuiltProducts.trialWorker, ["--connect", harness.endpoint, "--processes", "\(processes)", "--slots", "\(slots)"])
        return ChaosHost(process, try await process.pid())
    }

    /// Its executors that live.
    var executors: [Int32] {
        ProcessTable.now().filter { $0.parent == supervisor && !$0.isZombie && $0.name != "guardian" }.map(\.pid)
    }

    func send(_ signal: Int32, to processes: [Int32]) { for process in processes { kill(process, signal) } }

    /// All of it at once but its guardian, so that nobody is left who could say so.
    /// - Returns: its executors.
    func vanish() -> [Int32] {
        kill(supervisor, SIGSTOP)
        let executors = executors
        send(SIGKILL, to: executors + [supervisor])
        return executors
    }
}

/// The processes of this machine.
struct ProcessTable {
    struct Entry {
        let pid: Int32
        let name: Substring
        let parent: Int32
        let isZombie: Bool
    }

    static func now() -> [Entry] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { name in
            guard let pid = Int32(name), let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
                // Behind the name, which may have anything in it: state and parent.
                let begin = text.firstIndex(of: "("), let end = text.lastIndex(of: ")")
            else { return nil }
            let words = text[text.index(after: end)...].split(separator: " ")
            guard words.count > 1, let parent = Int32(words[1]) else { return nil }
            return Entry(pid: pid, name: text[begin..<end].dropFirst(), parent: parent, isZombie: words[0] == "Z")
        }
    }

    /// What it has in memory, in bytes.
    static func residentBytes(of process: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
        let pages = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// What should not be: a dead child that nobody has buried, and an executor or a command whose worker is gone.
    static func remains(of harness: ProcessHarness, besides known: [Int32]) -> [String] {
        let own = harness.processes()
        let table = now()
        let zombies = table.filter { $0.isZombie && own[$0.parent] != nil }.map { "\($0.pid) is dead, and \($0.parent) has not buried it" }
        let orphans = table.filter { own[$0.pid] != nil && own[$0.parent] == nil && !known.contains($0.pid) }
            .map { "\($0.pid) has no parent of ours: \(own[$0.pid] ?? "")" }
        return zombies + orphans
    }
}
