import Foundation

/// `aop` on a pseudo terminal of util-linux's `script`, with the size that it is given.
struct Terminal {
    let process: RunningProcess
    private let harness: ProcessHarness
    private let name: String

    /// - Parameter name: of the files it leaves; another one for each terminal of a test.
    init(
        _ harness: ProcessHarness, _ name: String, columns: Int, rows: Int, environment: [String: String] = [:], _ arguments: String...
    ) {
        self.harness = harness
        self.name = name
        let words = ([BuiltProducts.aop] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let command = "stty cols \(columns) rows \(rows); tty > \(name).tty; echo $$ > \(name).pid; exec \(words)"
        process = harness.start(
            "/usr/bin/script", ["-qefc", command, "\(name).typescript"],
            environment: ["TERM": "xterm", "SHELL": "/bin/sh"].merging(environment) { $1 })
    }

    /// What was written to it so far.
    var text: String { process.stdout }

    /// Gives it other columns, as a window that is drawn smaller does.
    func resize(columns: Int) async throws {
        let device = try await eventually("the terminal is there") { harness.lines(of: "\(name).tty").first }
        let resized = try await harness.start("/usr/bin/stty", ["-F", device, "cols", "\(columns)"]).finish()
        guard resized.status == 0 else { throw DeadlineMissed(what: "\(device) has \(columns) columns", last: "\(resized)") }
    }

    /// To the program on it.
    func send(_ signal: Int32) async throws {
        let pid = try await eventually("the program is there") { harness.lines(of: "\(name).pid").first.flatMap { Int32($0) } }
        kill(pid, signal)
    }
}
