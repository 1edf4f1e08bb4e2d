import Foundation
import Logging
import Testing

@testable import Worker

/// What a worker leaves that had no time to remove its directory.
@Suite(.timeLimit(.minutes(1))) struct DeadWorkersDirectoriesTests {
    private func make(_ mark: WorkerMark, in parent: String, boot: String = "b007") throws -> String {
        let path = "\(parent)/aop-worker-\(boot).\(mark.text)-ab1c2d"
        try FileManager.default.createDirectory(atPath: path + "/1f/attempt-1/deep", withIntermediateDirectories: true)
        try Data("left".utf8).write(to: URL(fileURLWithPath: path + "/1f/attempt-1/deep/file"))
        return path
    }

    @Test func directoriesOfTheDead_areRemoved_andNoOthers() throws {
        let parent = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let own = try WorkerMark.ofThisProcess()
        // A process of this number that was started at another time: that one is gone.
        let dead = WorkerMark(namespace: own.namespace, supervisor: own.supervisor, startedTicks: own.startedTicks + 1)
        let elsewhere = WorkerMark(
            namespace: .init(processes: own.namespace.processes + 1, time: own.namespace.time), supervisor: own.supervisor, startedTicks: 1)
        let left = try make(dead, in: parent)
        // Another host's, which may have the same numbers of everything: the place may be shared.
        let others = [
            try make(own, in: parent), try make(elsewhere, in: parent), try make(dead, in: parent, boot: "b008"),
            "\(parent)/aop-worker-abcdef", "\(parent)/aop-worker-b007.1.2-abcdef",
        ]
        for path in others[3...] { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }
        let link = "\(parent)/aop-worker-b007.\(dead.text)-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: others[3])

        TemporaryDirectory.removeThoseOfTheDead(besides: own, in: parent, boot: "b007", logger: Logger(label: "test"))

        #expect(access(left, F_OK) != 0)
        for path in others + [link] { #expect(access(path, F_OK) == 0, "\(path)") }
    }

    /// Something that did not die may still write there; and a worker may be started by a command of another one.
    @Test func directoryThatAProcessOfTheDeadMayUse_stays() throws {
        let parent = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let own = try WorkerMark.ofThisProcess()
        let dead = WorkerMark(namespace: own.namespace, supervisor: own.supervisor, startedTicks: own.startedTicks + 2)
        let left = try make(dead, in: parent)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sleep")
        process.arguments = ["600"]
        process.environment = [WorkerMark.environmentName: dead.text]
        try process.run()
        // Until it is that program it shows no environment of its own.
        while try !ProcessTable.marks().contains(dead) { poll(nil, 0, 5) }
        TemporaryDirectory.removeThoseOfTheDead(besides: own, in: parent, boot: "b007", logger: Logger(label: "test"))
        #expect(access(left, F_OK) == 0)
        // Threads of the test may block other signals, and so does what they start then.
        kill(process.processIdentifier, SIGKILL)
        // What others start meanwhile may have what Foundation waits for open.
        while try ProcessTable.marks().contains(dead) { poll(nil, 0, 5) }
        TemporaryDirectory.removeThoseOfTheDead(besides: own, in: parent, boot: "b007", logger: Logger(label: "test"))
        #expect(access(left, F_OK) != 0)
    }

    @Test func nameOfADirectory_saysWhoseItIs() throws {
        let mark = try WorkerMark.ofThisProcess()
        let path = try TemporaryDirectory.make(for: mark)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect((path as NSString).lastPathComponent.hasPrefix("aop-worker-\(TemporaryDirectory.boot ?? "?").\(mark.text)-"))
        TemporaryDirectory.removeThoseOfTheDead(
            besides: mark, in: (path as NSString).deletingLastPathComponent, logger: Logger(label: "test"))
        #expect(access(path, F_OK) == 0, "its worker lives")
    }
}
