import Foundation
import Synchronization
import Testing

/// What the bodies of `Deed`s have written of themselves.
struct ChaosHistory {
    enum End { case open, done, failed }

    struct Execution {
        let name: String
        let stamp: String
        let process: Int32
        let began: UInt64
        let key: String?
        /// Nobody else was inside under its key when it began, as the kernel says.
        let isAlone: Bool
        var end = End.open
        /// When it ended; 0: it has not.
        var ended: UInt64 = 0

        func isOpen(at time: UInt64) -> Bool { began < time && (ended == 0 || ended > time) }
    }

    private(set) var executions: [Execution] = []
    private var byStamp: [String: Int] = [:]
    private(set) var byName: [String: [Int]] = [:]
    private(set) var ended = 0
    private(set) var brokenLines: [Substring] = []

    mutating func add(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 7, let process = Int32(words[3]), let time = UInt64(words[4]) else { return brokenLines.append(line) }
        switch words[0] {
        case "+":
            byStamp[String(words[2])] = executions.count
            byName[String(words[1]), default: []].append(executions.count)
            executions.append(
                Execution(
                    name: String(words[1]), stamp: String(words[2]), process: process, began: time,
                    key: words[5] == "-" ? nil : String(words[5]), isAlone: words[6] == "alone"))
        case "-", "!":
            guard let index = byStamp[String(words[2])] else { return brokenLines.append(line) }
            executions[index].end = words[0] == "-" ? .done : .failed
            executions[index].ended = time
            ended += 1
        default: brokenLines.append(line)
        }
    }

    func executions(of name: String) -> [Execution] { (byName[name] ?? []).map { executions[$0] } }
    func execution(_ stamp: String) -> Execution? { byStamp[stamp].map { executions[$0] } }
    var open: [Execution] { executions.filter { $0.end == .open } }
}

/// The file that they write, read on and on.
final class ChaosLog: Sendable {
    private struct State {
        var history = ChaosHistory()
        var rest = Data()
        var offset: UInt64 = 0
    }

    let path: String
    private let state = Mutex(State())

    init(_ path: String) { self.path = path }

    /// All that is there by now.
    func read() -> ChaosHistory {
        state.withLock { state in
            guard let file = FileHandle(forReadingAtPath: path) else { return state.history }
            defer { try? file.close() }
            do {
                try file.seek(toOffset: state.offset)
                let bytes = try file.readToEnd() ?? Data()
                state.offset += UInt64(bytes.count)
                state.rest += bytes
            } catch { Issue.record("\(path) cannot be read: \(error)") }
            guard let end = state.rest.lastIndex(of: 0x0A) else { return state.history }
            for line in String(decoding: state.rest[...end], as: UTF8.self).split(separator: "\n") { state.history.add(line) }
            state.rest = Data(state.rest[state.rest.index(after: end)...])
            return state.history
        }
    }
}
