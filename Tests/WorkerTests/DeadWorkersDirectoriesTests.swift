import Foundation
import Logging
import Testing

@testable import Worker

/// What a worker leaves that had no time to remove its directory.
@Suite struct DeadWorkersDirectoriesTests {
    private func make(_ mark: WorkerMark, in parent: String) throws -> String {
        let path = "\(parent)/aop-worker-\(mark.text)-ab1c2d"
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
        let others = [
            try make(own, in: parent), try make(elsewhere, in: parent), "\(parent)/aop-worker-abcdef", "\(parent)/aop-worker-1.2-abcdef",
        ]
        for path in others[2...] { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }
        let link = "\(parent)/aop-worker-\(dead.text)-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: others[2])

        TemporaryDirectory.removeThoseOfTheDead(besides: own, in: parent, logger: Logger(label: "test"))

        #expect(access(left, F_OK) != 0)
        for path in others + [link] { #expect(access(path, F_OK) == 0, "\(path)") }
    }

    @Test func nameOfADirectory_saysWhoseItIs() throws {
        let mark = try WorkerMark.ofThisProcess()
        let path = try TemporaryDirectory.make(for: mark)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect((path as NSString).lastPathComponent.hasPrefix("aop-worker-\(mark.text)-"))
        TemporaryDirectory.removeThoseOfTheDead(
            besides: mark, in: (path as NSString).deletingLastPathComponent, logger: Logger(label: "test"))
        #expect(access(path, F_OK) == 0, "its worker lives")
    }
}
