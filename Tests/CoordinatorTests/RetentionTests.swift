import Foundation
import Scheduling
import Synchronization
import Testing
import Wire

@testable import Coordinator

/// What is forgotten leaves the files, too.
@Suite struct RetentionTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    init() throws { temporary = try TemporaryDirectory() }

    private func record(_ submission: UInt32, index: UInt64) -> OutputRecord {
        OutputRecord(
            unit: UnitID(SubmissionNumber(submission), 1), attempt: Attempt(epoch: 1, counter: 1), attemptNumber: 1, path: "a",
            stream: .stdout, index: index, at: 5, bytes: [1, 2, 3], isTruncated: false)
    }

    private func run(_ submission: UInt32) -> ElementRun {
        ElementRun(
            peer: PeerID(1), unit: UnitID(SubmissionNumber(submission), 1), attempt: Attempt(epoch: 1, counter: 1), number: 1, first: 0,
            elements: [.init(index: 0, encoding: 1, bytes: [1, 2])], isClosed: true)
    }

    @Test func output_isRemovedBySubmission() throws {
        var spool = try OutputDatabase(try DataDirectory(path: path))
        try spool.append([record(1, index: 0), record(2, index: 0), record(1, index: 1)])
        #expect(spool.submissions == [SubmissionNumber(1), SubmissionNumber(2)])
        try spool.forget([SubmissionNumber(1), SubmissionNumber(7)])
        #expect(spool.submissions == [SubmissionNumber(2)])
        let query = { OutputQuery(submission: SubmissionNumber($0), units: nil, after: 0, limitBytes: 1_000) }
        #expect(try spool.read(query(1)).records.isEmpty)
        #expect(try spool.read(query(2)).records == [record(2, index: 0)])
    }

    /// Readers that are about to look again go with their connections, at any moment: nobody else keeps what has ended.
    @Test func readersThatAreKilled_keepNothing() async throws {
        try await TestCoordinator.run(in: path, { $0.retentionMilliseconds = 1 }) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a")]))
            let assignment = try worker.assignments(1)[0]
            try worker.report(assignment.unit, assignment.attempt, .started(.with { $0.startedAt = 1 }))
            for round in 0..<Self.rounds {
                let readers = try (0..<8).map { _ in try coordinator.peer() }
                for (index, reader) in readers.enumerated() {
                    _ = try reader.attach(.client, incarnation: UInt64(1_000 + round * 8 + index))
                    try reader.send(
                        .with {
                            $0.request = .with {
                                $0.id = 1;
                                $0.body = .output(
                                    .with {
                                        $0.submission = id; $0.after = UInt64(round); $0.wait = true
                                    })
                            }
                        })
                    _ = try reader.request(2, .show(.with { $0.submission = id }))
                }
                try worker.send(
                    .with {
                        $0.output.chunks = [
                            .with {
                                $0.unit = assignment.unit
                                $0.attempt = assignment.attempt
                                $0.index = UInt64(round)
                                $0.bytes = Data("x".utf8)
                            }
                        ]
                    })
                for reader in readers {
                    try reader.send(.with { $0.goodbye.reason = "killed" })
                }
                // That it knows them no more says that they are forgotten: who goes after the end holds it until the next look.
                for reader in readers {
                    try reader.send(.with { $0.heartbeat = .init() })
                    try reader.expect { if case .helloWanted? = $0.body { () } else { nil } }
                    reader.close()
                }
            }
            try worker.succeed(assignment)
            let deadline = BootClock.milliseconds() + 20_000
            var number: UInt64 = 10
            var isThere = true
            while isThere, BootClock.milliseconds() < deadline {
                number += 1
                if case .failed? = try client.request(number, .show(.with { $0.submission = id })).body { isThere = false }
            }
            #expect(!isThere, "somebody who has gone still follows it")
            worker.close()
            client.close()
        }
    }

    private static let rounds = 20

    @Test func partialResults_areRemovedBySubmission() throws {
        var spool = try ElementDatabase(try DataDirectory(path: path), totalBytesMax: 1_000)
        _ = try spool.append([run(1), run(2)])
        try spool.forget([SubmissionNumber(1), SubmissionNumber(7)])
        #expect(spool.submissions == [SubmissionNumber(2)])
    }

    /// Of the coordinator: it forgets by itself, and what a crash has left of that goes with the next start.
    @Test func submissionThatEnded_isForgotten_withItsOutput_andTheNextStartFindsNothingOfIt() async throws {
        let configure: @Sendable (inout CoordinatorConfiguration) -> Void = { $0.retentionMilliseconds = 1 }
        try await TestCoordinator.run(in: path, configure) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a")]))
            try worker.succeed(try worker.assignments(1)[0])
            var number: UInt64 = 10
            while true {
                number += 1
                let response = try client.request(number, .show(.with { $0.submission = id }))
                guard case .failed(let error)? = response.body else { continue }
                #expect(error.message.contains("no submission"), "\(error.message)")
                break
            }
            worker.close()
            client.close()
        }
        do {
            var spool = try OutputDatabase(try DataDirectory(path: path))
            try spool.append([record(1, index: 0)])
            try spool.sync()
            try spool.close()
        }
        try await TestCoordinator.run(in: path, configure) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 3)
            guard case .submissions(let list) = try client.request(1, .list(.with { $0.limit = 10 })).body else {
                throw Timeout(what: "no list")
            }
            #expect(list.submissions.isEmpty)
            client.close()
        }
        #expect(try OutputDatabase(try DataDirectory(path: path)).submissions.isEmpty)
    }

    // MARK: Large values

    /// Without a snapshot, and soon: what they take is bounded by what is retained.
    @Test func valueOfForgottenSubmissions_isRemoved_unlessAnythingElseNamesIt() async throws {
        let (shared, own) = (Data(repeating: 7, count: 100_000), Data(repeating: 8, count: 100_000))
        let blobs = path + "/blobs"
        @Sendable func isThere(_ value: Data) -> Bool { DurableFiles.isThere(BlobDigest(hashing: value).path(below: blobs)) }
        let configure: @Sendable (inout CoordinatorConfiguration) -> Void = {
            $0.retentionMilliseconds = 1
            $0.forgottenValueMilliseconds = 1
        }
        try await TestCoordinator.run(in: path, configure) { coordinator in
            let (worker, client) = (try coordinator.peer(), try coordinator.peer())
            _ = try worker.attach(.executor, incarnation: 1)
            _ = try client.attach(.client, incarnation: 2)
            defer {
                worker.close()
                client.close()
            }
            func end(_ assignment: WireAssignment, with value: Data, isNew: Bool) throws {
                try worker.end(assignment, .success(.blob(value)))
                if isNew { try worker.give(value) }
                try worker.acknowledgement(of: assignment.unit)
            }
            // Its second operation runs to the end of this.
            _ = try client.submit(.group([.noop("a"), .noop("b")]), key: "1")
            try end(try worker.assignments(2)[0], with: shared, isNew: true)
            _ = try client.submit(.group([.noop("a")]), key: "2")
            try end(try worker.assignments(1)[0], with: shared, isNew: false)
            _ = try client.submit(.group([.noop("a")]), key: "3")
            try end(try worker.assignments(1)[0], with: own, isNew: true)
            let deadline = BootClock.milliseconds() + 60_000
            var number: UInt64 = 10
            while isThere(own) {
                guard BootClock.milliseconds() < deadline else { throw Timeout(what: "the value that nothing names is still there") }
                number += 1
                _ = try client.request(number, .list(.with { $0.limit = 10 }))
            }
            #expect(isThere(shared))
        }
        #expect(isThere(shared))
        #expect(try JournalVerification(dataDirectory: path, hashingValues: true).problems.isEmpty)
    }

    @Test func values_thatNothingNames_andThatAreOld_areSwept() throws {
        var store = try BlobStore(path: temporary.path + "/blobs")
        let (named, old, touched) = (Data("named".utf8), Data("old".utf8), Data("touched".utf8))
        let keys = try [named, old, touched].map { try store.store($0) }
        let past = [timespec(tv_sec: 1_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 0)]
        for key in keys {
            let name = key.digest.hexadecimal
            let file = "\(temporary.path)/blobs/\(name.prefix(2))/\(name.dropFirst(2))"
            try #require(utimensat(AT_FDCWD, file, past, 0) == 0)
        }
        _ = try store.store(touched)  // somebody brings it again
        let anHourAgo = Date(timeIntervalSinceNow: -3_600)
        let swept = try store.sweep(keeping: [keys[0].digest], unusedSince: anHourAgo, handedOverSince: anHourAgo)
        let removed = try #require(swept)
        #expect(removed.count == 1 && removed.bytes == 3)
        #expect(keys.map(store.contains) == [true, false, true])
    }

    /// It would fill the disk, and end the coordinator.
    @Test func snapshotForWhichThereIsNoRoom_isMadeWhenThereIs() {
        final class Disk: Sendable { let free = Atomic<Int64>(100) }
        let disk = Disk()
        var backlog = SnapshotBacklog(50, since: nil, bytes: 10, fits: { $0 < disk.free.load(ordering: .relaxed) })
        #expect(!backlog.isDue(at: 0) && !backlog.lacksRoom(at: 0))
        backlog.add(490)
        #expect(backlog.isDue(at: 0), "much of what was written may be forgotten")
        backlog.begin(at: 0)
        backlog.refuse(200, at: 5)
        #expect(!backlog.isDue(at: 5) && backlog.lacksRoom(at: 5))
        let later = 5 + CoordinatorLimits.snapshotRoomPauseMilliseconds
        #expect(!backlog.isDue(at: later - 1) && backlog.isDue(at: later), "it may have become smaller")
        disk.free.store(201, ordering: .relaxed)
        #expect(backlog.isDue(at: 6) && backlog.lacksRoom(at: 6), "until it is made")
        backlog.begin(at: 6)
        #expect(backlog.lacksRoom(at: 6))
        backlog.end(Snapshot(end: .empty, sections: 1, bytes: 200, digest: []))
        #expect(!backlog.isDue(at: 7) && !backlog.lacksRoom(at: 7))
        disk.free.store(0, ordering: .relaxed)
        backlog.add(200)
        #expect(!backlog.isDue(at: 8) && backlog.lacksRoom(at: 8))
    }

    @Test func snapshotOfWhatWasForgotten_forWhichThereWasNoRoom_isMadeWhenThereIs() {
        final class Disk: Sendable { let free = Atomic<Int64>(100) }
        let disk = Disk()
        var backlog = SnapshotBacklog(1_000, since: nil, bytes: 1, fits: { $0 < disk.free.load(ordering: .relaxed) })
        backlog.noteForgotten()
        backlog.begin(at: 0)
        backlog.refuse(200, at: 1)
        #expect(!backlog.isDue(at: 2) && backlog.lacksRoom(at: 2))
        disk.free.store(300, ordering: .relaxed)
        #expect(backlog.isDue(at: 2))
    }

    @Test func snapshot_isDueWhenSomethingWasForgotten_butNotOneAfterTheOther() {
        var backlog = SnapshotBacklog(1_000, since: nil, bytes: 0)
        #expect(!backlog.isDue(at: 0))
        backlog.noteForgotten()
        #expect(backlog.isDue(at: 5))
        backlog.begin(at: 5)
        backlog.noteForgotten()
        #expect(!backlog.isDue(at: 6))
        backlog.end(Snapshot(end: .empty, sections: 1, bytes: 10, digest: []))
        #expect(!backlog.isDue(at: 5 + CoordinatorLimits.snapshotPauseMilliseconds - 1))
        #expect(backlog.isDue(at: 5 + CoordinatorLimits.snapshotPauseMilliseconds))
    }
}
