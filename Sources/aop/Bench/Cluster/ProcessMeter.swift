import Foundation

/// What the processes of a cluster have used so far, as the kernel says.
struct ProcessMeter: Sendable {
    enum Role: String, CaseIterable, Sendable {
        case submitter, coordinator, worker
    }

    struct Reading: Sendable {
        /// Processor time, in microseconds; known to the hundredth of a second.
        var cpuMicroseconds: [Role: Double] = [:]
        /// The most memory that was resident at once.
        var peakBytes: [Role: Int] = [:]
        /// What the coordinator had written to storage.
        var writtenBytes = 0
    }

    private let processes: [Role: [pid_t]]
    /// What coordinators used that are no more.
    private var gone = Reading()

    /// Finds the processes among the children of this one.
    ///
    /// - Throws: `ToolError` if one of them is not there.
    init() throws {
        var processes: [Role: [pid_t]] = [.submitter: [getpid()]]
        for child in Self.children(of: getpid()) {
            switch Self.subcommand(of: child) {
            case "coordinator": processes[.coordinator, default: []].append(child)
            case "worker": processes[.worker, default: []] += [child] + Self.children(of: child)
            default: break
            }
        }
        guard processes.count == Role.allCases.count else {
            throw ToolError(.toolError, "internal", "the processes of the benchmark's cluster cannot be found in /proc")
        }
        self.processes = processes
    }

    /// One that goes on behind `last`, what this one read before its coordinator's end, with the coordinator that is there now.
    func continued(after last: Reading) throws -> ProcessMeter {
        var next = try ProcessMeter()
        next.gone = Reading(
            cpuMicroseconds: last.cpuMicroseconds.filter { $0.key == .coordinator },
            peakBytes: last.peakBytes.filter { $0.key == .coordinator }, writtenBytes: last.writtenBytes)
        return next
    }

    func read() -> Reading {
        var reading = Reading()
        for (role, processes) in processes {
            reading.cpuMicroseconds[role] = processes.reduce(gone.cpuMicroseconds[role] ?? 0) { $0 + Self.cpuMicroseconds(of: $1) }
            reading.peakBytes[role] = max(gone.peakBytes[role] ?? 0, processes.reduce(0) { $0 + Self.peakBytes(of: $1) })
        }
        reading.writtenBytes = (processes[.coordinator] ?? []).reduce(gone.writtenBytes) { $0 + Self.writtenBytes(of: $1) }
        return reading
    }

    /// The coordinator's memory that is resident now.
    var coordinatorBytes: Int {
        (processes[.coordinator] ?? []).reduce(0) { $0 + Self.number(after: "VmRSS:", in: Self.text($1, "status")) * 1024 }
    }

    // MARK: /proc

    private static func text(_ process: pid_t, _ file: String) -> String {
        // What has ended has used nothing more.
        FileManager.default.contents(atPath: "/proc/\(process)/\(file)").map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private static func children(of process: pid_t) -> [pid_t] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return tasks.flatMap { text(process, "task/\($0)/children").split(separator: " ").compactMap { pid_t($0) } }
    }

    private static func subcommand(of process: pid_t) -> String {
        let arguments = text(process, "cmdline").split(separator: "\0")
        return arguments.count > 1 ? String(arguments[1]) : ""
    }

    private static func cpuMicroseconds(of process: pid_t) -> Double {
        // The name before the last parenthesis may hold anything; user and system time are the 12th and 13th after it.
        let fields = text(process, "stat").split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) * 1_000_000 / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func peakBytes(of process: pid_t) -> Int {
        number(after: "VmHWM:", in: text(process, "status")) * 1024
    }

    private static func writtenBytes(of process: pid_t) -> Int { number(after: "\nwrite_bytes:", in: text(process, "io")) }

    private static func number(after name: String, in text: String) -> Int {
        guard let range = text.range(of: name) else { return 0 }
        return text[range.upperBound...].split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 0
    }
}
