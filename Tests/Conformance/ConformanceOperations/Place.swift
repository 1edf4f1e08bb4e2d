import AOperation
import Conformance
import Foundation
import Synchronization

/// Where scripted bodies and conditions note what they do, and by what clock they work.
package protocol Place: Sendable {
    /// How this process is named in events.
    var process: String { get }
    /// Counts a run of a node, and says its number.
    func begin(_ node: Int) -> Int
    /// How often a condition of a node was asked before.
    func ask(_ node: Int, condition: Int) -> Int
    /// Notes these one after the other, and nothing between them.
    func note(_ events: [Event])
    /// What its clock shows. All that note at it, and the operations' dates, have the same.
    var date: Date { get }
    /// One unit of work.
    func tick() async throws
}

extension Place {
    package func note(_ event: Event) { note([event]) }

    /// Notes an event with the time.
    package func noteTimed(_ event: Event) { note([.clock(Int((date.timeIntervalSince1970 * 1_000).rounded(.down))), event]) }
}

/// Finds a place by its name: a folder, for all processes of a host, or a place of this process.
package enum Places {
    private static let known = Mutex<[String: any Place]>([:])

    package static func register(_ place: any Place, as name: String) { known.withLock { $0[name] = place } }

    package static func remove(_ name: String) {
        known.withLock { $0[name] = nil }
        watchers.withLock { $0[name] = nil }
        attemptWatchers.withLock { $0[name] = nil }
    }

    private static let watchers = Mutex<[String: @Sendable (AOperation, Int) -> Void]>([:])

    /// Calls `handler` with what groups of this process are about to add.
    static func watchAdditions(at name: String, _ handler: @escaping @Sendable (AOperation, Int) -> Void) {
        watchers.withLock { $0[name] = handler }
    }

    static func adding(_ operation: AOperation, as node: Int, at name: String) { watchers.withLock { $0[name] }?(operation, node) }

    private static let attemptWatchers = Mutex<[String: @Sendable ([Int: AOperation]) -> Void]>([:])

    /// Calls `handler` with what groups of this process have made for another attempt.
    static func watchAttempts(at name: String, _ handler: @escaping @Sendable ([Int: AOperation]) -> Void) {
        attemptWatchers.withLock { $0[name] = handler }
    }

    static func making(_ operations: [Int: AOperation], at name: String) { attemptWatchers.withLock { $0[name] }?(operations) }

    package static func place(_ name: String) -> any Place {
        known.withLock { known in
            if let place = known[name] { return place }
            let place = FolderPlace(name)
            known[name] = place
            return place
        }
    }
}

/// The memory of this process.
package final class MemoryPlace: Place {
    private struct State {
        var events: [Event] = []
        var runs: [Int: Int] = [:]
        var questions: [[Int]: Int] = [:]
    }

    private let state = Mutex(State())
    private let work: @Sendable () async throws -> Void
    private let clock: @Sendable () -> Date
    package let process = "here"

    /// - Parameter clock: what shows the dates of its events.
    package init(
        clock: @escaping @Sendable () -> Date = { Date() },
        tick: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .microseconds(200)) }
    ) {
        (self.clock, work) = (clock, tick)
    }

    package var date: Date { clock() }

    package var history: History { state.withLock { History($0.events) } }

    package func begin(_ node: Int) -> Int {
        state.withLock { state in
            state.runs[node, default: 0] += 1
            return state.runs[node] ?? 1
        }
    }

    package func ask(_ node: Int, condition: Int) -> Int {
        state.withLock { state in
            defer { state.questions[[node, condition], default: 0] += 1 }
            return state.questions[[node, condition]] ?? 0
        }
    }

    package func note(_ events: [Event]) { state.withLock { $0.events += events } }

    package func tick() async throws { try await work() }
}

/// A folder that several processes of one host share: a line for each event, in the order in which they were written.
package final class FolderPlace: Place {
    private let folder: String
    package let process = "\(getpid())"

    package init(_ folder: String) { self.folder = folder }

    package var history: History {
        let text = (try? String(contentsOfFile: "\(folder)/events", encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n")
        return History(lines.compactMap { try? JSONDecoder().decode(Event.self, from: Data($0.utf8)) })
    }

    package func begin(_ node: Int) -> Int { count("runs-\(node)") }

    package func ask(_ node: Int, condition: Int) -> Int { count("asked-\(node)-\(condition)") - 1 }

    package func note(_ events: [Event]) {
        var lines = Data()
        for event in events {
            guard let line = try? JSONEncoder().encode(event) else { return }
            lines += line + Data("\n".utf8)
        }
        append(lines, to: "events")
    }

    package var date: Date { Date() }

    package func tick() async throws { try await Task.sleep(for: .milliseconds(3)) }

    /// How often this was counted, this time included, by any process.
    private func count(_ name: String) -> Int { append(Data("|".utf8), to: name) }

    /// Writes all of it behind what is there, in one piece. Returns where it ends.
    @discardableResult
    private func append(_ bytes: Data, to name: String) -> Int {
        let file = open("\(folder)/\(name)", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        let written = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        guard written == bytes.count else { return 0 }
        return Int(lseek(file, 0, SEEK_CUR))
    }
}
