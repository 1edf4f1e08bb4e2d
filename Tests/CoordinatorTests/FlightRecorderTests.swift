import Foundation
import Logging
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// What a scheduler was told comes to the same decisions once more.
@Suite struct FlightRecorderTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    init() throws { temporary = try TemporaryDirectory() }

    private func work(bytes: Int64 = 64 << 20, submissions: Int = 3) async throws {
        try await TestCoordinator.run(in: path) {
            $0.flightRecorderBytes = bytes
        } _: { coordinator in
            let (worker, client) = (try coordinator.peer(), try coordinator.peer())
            _ = try worker.attach(.executor, incarnation: UInt64.random(in: 1 ... .max))
            _ = try client.attach(.client, incarnation: UInt64.random(in: 1 ... .max))
            defer {
                worker.close()
                client.close()
            }
            for _ in 0..<submissions {
                let id = try client.submit(.group([.noop("a"), .noop("b", receives: [1])]), key: UUID().uuidString)
                for _ in 0..<2 { try worker.succeed(try worker.assignments(1)[0]) }
                _ = try client.operations(id)
                _ = try client.view(id)
            }
        }
    }

    @Test func replay_comesToTheSameDecisions_alsoBehindAJournal() async throws {
        try await work()
        try await work()
        let recordings = JournalReplay.recordings(in: path)
        #expect(recordings.count == 2)
        for recording in recordings {
            let replay = try JournalReplay(recording: recording)
            #expect(replay.difference == nil, "\(String(describing: replay.difference))")
            #expect(replay.steps > 10 && replay.inputs > 10 && replay.facts > 8 && replay.ending == nil && replay.gap == nil)
        }
        let facts = try recordings.reduce(0) { $0 + (try JournalReplay(recording: $1).facts) }
        #expect(facts == (try JournalVerification(dataDirectory: path).facts), "all facts of the journal are decided again")
    }

    @Test func whatDiffers_isNamed() async throws {
        try await work()
        let recording = try #require(JournalReplay.recordings(in: path).first)
        var rows: [Recording.Row] = []
        try Recording.read([UInt8](try Data(contentsOf: URL(fileURLWithPath: recording)))) { rows.append($0) }
        // As a scheduler that had got the inputs of a step at another time.
        let changed = try #require(
            try rows.indices.first { index in
                guard case .step(_, let inputs, _) = rows[index] else { return false }
                return try InputCodec.decode(inputs[...]).contains { if case .request(_, .submit, _) = $0 { true } else { false } }
            })
        guard case .step(let at, let inputs, let decisions) = rows[changed] else { return }
        rows[changed] = .step(Instant(boot: at.boot, wall: at.wall + 5), inputs: inputs, decisions)
        try Data(rows.flatMap { Recording.encode($0) }).write(to: URL(fileURLWithPath: recording))
        let difference = try #require(try JournalReplay(recording: recording).difference)
        #expect(difference.isInFacts && !difference.facts.isEmpty)
        #expect(difference.step == rows[...changed].count { if case .step = $0 { true } else { false } })
    }

    @Test func recordingThatIsCutOff_isReplayedAsFarAsItGoes_andADamagedOneIsRefused() async throws {
        try await work()
        let recording = try #require(JournalReplay.recordings(in: path).first)
        let content = try Data(contentsOf: URL(fileURLWithPath: recording))
        try content.dropLast(30).write(to: URL(fileURLWithPath: recording))
        let whole = try Data(contentsOf: URL(fileURLWithPath: recording))
        let replay = try JournalReplay(recording: recording)
        #expect(replay.difference == nil && replay.unreadBytes > 0)
        try whole.dropLast(replay.unreadBytes).write(to: URL(fileURLWithPath: recording))
        #expect(try JournalReplay(recording: recording).unreadBytes == 0)
        var damaged = content
        damaged[damaged.count / 2] ^= 1
        try damaged.write(to: URL(fileURLWithPath: recording))
        #expect(throws: RecordingError.self) { try JournalReplay(recording: recording) }
        try Data("nonsense, and more of it, so that there is a row".utf8).write(to: URL(fileURLWithPath: recording))
        #expect(throws: RecordingError.self) { try JournalReplay(recording: recording) }
    }

    @Test func diskThatIsTooSlow_endsTheRecording() throws {
        let directory = try DataDirectory(path: path)
        let recorder = try FlightRecorder(
            in: directory, epoch: 1, configuration: .init(), sections: [], bytesMax: 64 << 20, inFlightMax: 0, logger: Logger(label: "test")
        )
        for _ in 0..<2 { recorder.step([], at: Instant(boot: 0, wall: 0), Outputs(), sequence: .none) }
        recorder.close()
        let recording = try #require(JournalReplay.recordings(in: path).first)
        var rows: [Recording.Row] = []
        try Recording.read([UInt8](try Data(contentsOf: URL(fileURLWithPath: recording)))) { rows.append($0) }
        guard rows.count == 2, case .configuration = rows[0], case .full(.slowDisk) = rows[1] else {
            Issue.record("\(rows)")
            return
        }
        #expect(try JournalReplay(recording: recording).gap == "it does not come to the start (the disk was slower than what is recorded)")
    }

    @Test func stateThatIsLargerThanItsRoom_isSaid_andRemovesNoOtherRecording() throws {
        let directory = try DataDirectory(path: path)
        func record(_ epoch: UInt32, sections: [[UInt8]]) throws {
            let recorder = try FlightRecorder(
                in: directory, epoch: epoch, configuration: .init(), sections: sections, bytesMax: 20_000, logger: Logger(label: "test"))
            // Something less than half of all.
            for _ in 0..<80 { recorder.step([], at: Instant(boot: 0, wall: 0), Outputs(), sequence: .none) }
            recorder.close()
        }
        try record(1, sections: [])
        try record(2, sections: [[UInt8](repeating: 0, count: 9_000), [UInt8](repeating: 0, count: 2_000)])
        let replay = try JournalReplay(recording: try #require(JournalReplay.recordings(in: path).first))
        #expect(replay.steps == 0 && replay.difference == nil)
        let gap = try #require(replay.gap)
        #expect(gap.hasPrefix("it does not come to the start (the state at the start has 11"), "\(gap)")
        #expect(gap.contains("more than half of --flight-recorder"), "\(gap)")
        let sizes = try JournalReplay.recordings(in: path).map { try Data(contentsOf: URL(fileURLWithPath: $0)).count }
        #expect(sizes.count == 2 && sizes.last ?? 0 > 8_000, "\(sizes)")
    }

    @Test func whereNoStepIsRecorded_nothingIsSaidToBeTheSame() async throws {
        try await work()
        try await work()
        let recording = try #require(JournalReplay.recordings(in: path).first)
        var rows: [Recording.Row] = []
        try Recording.read([UInt8](try Data(contentsOf: URL(fileURLWithPath: recording)))) { rows.append($0) }
        let start = try #require(rows.firstIndex { if case .start = $0 { true } else { false } })
        #expect(start > 1, "a state is in front of it")
        func gap(_ rows: [Recording.Row], cutOff: Int = 0) throws -> String? {
            try Data(rows.flatMap { Recording.encode($0) }.dropLast(cutOff)).write(to: URL(fileURLWithPath: recording))
            return try JournalReplay(recording: recording).gap
        }
        #expect(try gap(Array(rows[..<start]), cutOff: 5) == "it does not come to the start (it was cut off, or is damaged)")
        #expect(try gap(Array(rows[..<start])) == "it does not come to the start")
        #expect(try gap(Array(rows[...start])) == "there is a start in it and no step")
        let full = Array(rows[...start]) + [Recording.Row.full(.limit)]
        #expect(try gap(full) == "there is a start in it and no step (it has reached half of --flight-recorder)")
        #expect(try gap(Array(rows[...(start + 1)])) == nil)
    }

    /// Else its first step would come to something else, as if that were a fault.
    @Test(arguments: [(Rules.newest - 1, Scheduler.decisionsVersion), (Rules.newest, Scheduler.decisionsVersion + 1)])
    func recordingOfOtherRulesOrDecisions_isOfAnotherRelease(rules: UInt32, decisions: UInt32) async throws {
        try await work(submissions: 1)
        let recording = try #require(JournalReplay.recordings(in: path).first)
        var rows: [Recording.Row] = []
        try Recording.read([UInt8](try Data(contentsOf: URL(fileURLWithPath: recording)))) { rows.append($0) }
        guard case .configuration(let bytes, _)? = rows.first else { return }
        rows[0] = .configuration(bytes, of: Recording.Release(rules: rules, decisions: decisions))
        try Data(rows.flatMap { Recording.encode($0) }).write(to: URL(fileURLWithPath: recording))
        let error = #expect(throws: RecordingError.self) { try JournalReplay(recording: recording) }
        #expect(
            error?.reason == "it is of another release (rules \(rules) and decisions \(decisions); those of this one are"
                + " \(Rules.newest) and \(Scheduler.decisionsVersion))")
    }

    @Test func recordings_takeNoMoreThanTheirLimit() async throws {
        try await work(bytes: 2_000)
        let first = try #require(JournalReplay.recordings(in: path).first)
        #expect(try Data(contentsOf: URL(fileURLWithPath: first)).count <= 1_050)
        let replay = try JournalReplay(recording: first)
        #expect(replay.ending == "it has reached half of --flight-recorder" && replay.difference == nil)
        // Each start has another epoch: wait for the next second is not needed, as epochs rise by one at least.
        for _ in 0..<3 { try await work(bytes: 2_000, submissions: 1) }
        let sizes = try JournalReplay.recordings(in: path).map { try Data(contentsOf: URL(fileURLWithPath: $0)).count }
        #expect(sizes.reduce(0, +) <= 2_100, "\(sizes)")
    }

    @Test func inputs_areReadAsTheyWereWritten() throws {
        let attachment = ExecutorAttachment(
            identity: WorkerIdentity(incarnation: Incarnation(5), name: "h/0", host: "h", pid: 1, supervisor: Incarnation(7)), slots: 3,
            operations: [OperationSignature(name: "t", version: 3)], labels: ["fast"],
            held: [.init(unit: UnitID(rawValue: 5), attempt: Attempt(rawValue: 6), state: .running)], conditions: ["c"],
            resources: [ResourceAmount(name: "gpus", amount: 2)], line: 4, connection: 9)
        let graph = Graph(
            name: "g",
            nodes: [
                Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: true))),
                Node(id: "a", parent: 0, kind: .operation(OperationNode(type: "t", parameters: 0)), retries: 2),
            ], parameters: [[1, 2]])
        let (peer, unit, attempt) = (PeerID(1), UnitID(rawValue: 2), Attempt(rawValue: 3))
        let authority = Authority(
            principal: "p", roles: ["submit"], maySubmit: true, mayObserve: false, mayAdminister: false, operations: ["t"])
        let requests: [Request] = [
            .submit(key: "k", name: "n", graph: ExaminedGraph(graph), waitForWorkers: true, cancelled: [1], submitter: Incarnation(4)),
            .check(graph: graph, waitForWorkers: false), .cancel(submission: "s", path: "p", reason: "r", now: true),
            .pause(submission: "s", path: "p"), .resume(submission: "s", path: ""), .list(before: "b", limit: -1), .show(submission: "s"),
            .operations(OperationQuery(submission: "s", path: "p", from: 1, limit: 2, withValues: true, failedOnly: false)),
            .operations(
                OperationQuery(
                    submission: "s", path: "", from: 0, limit: 0, withValues: false, failedOnly: true, withDependencies: true)),
            .operations(
                OperationQuery(submission: "s", path: "", from: 0, limit: 0, withValues: true, failedOnly: false, atEnd: true)),
            .operations(
                OperationQuery(
                    submission: "s", path: "", from: 0, limit: 0, withValues: true, failedOnly: false, withDependencies: true, atEnd: true)),
            .follow(submission: "s", .everything), .unfollow(submission: "s"), .workers,
            .retry(submission: "s", key: "k", force: true, failedOnly: true),
            .releaseLock(key: "k", holders: ["h"], reason: "r", now: true), .locks(key: "k", from: 3),
            .drainWorker(name: "h/0", reason: "r"), .resumeWorker(name: "h/0"), .removeWorker(name: "h/0"), .workerEvents(after: 7),
            .worker(name: "h/0"), .locate(submission: "s", path: "p"),
            .explain(submission: "s", path: "p"), .locateOperation(submission: "s", path: "p"),
        ]
        let inputs: [Input] =
            [
                .executorAttached(peer, attachment), .heard(peer), .draining(peer), .disconnected(peer), .revoked(peer),
                .barred(Incarnation(8), .limited),
                .departed(peer),
                .executorEnded(supervisor: peer, Incarnation(3), crashed: true), .started(peer, unit, attempt, at: -4),
                .progressed(peer, unit, attempt, Progress(fraction: 0.25, message: "m", at: 9)),
                .heldBack(peer, unit, attempt, reason: nil),
                .ended(peer, unit, attempt, .success(Payload(encoding: .text, storage: .inline([1]))), startedAt: 1, at: 2),
                .produced(peer, unit, attempt, number: 8, Addition(id: "i", graph: graph, products: [1])),
                .released(peer, unit, attempt, wasStopped: true, isAccepting: true),
                .stopping(peer, unit, attempt, forced: true, at: 5), .diskFilled("full"), .diskFilled(nil),
                .historyBehind(true), .historyBehind(false), .stoodStill,
            ] + requests.map { .request(RequestID(peer: peer, number: 77), $0, by: authority) }
        let again = try InputCodec.decode(InputCodec.encode(inputs)[...])
        #expect("\(again)" == "\(inputs)")
        for cut in stride(from: 0, to: InputCodec.encode(inputs).count, by: 7) {
            #expect(throws: DecodingFailure.self) { try InputCodec.decode(InputCodec.encode(inputs).prefix(cut)) }
        }
    }
}
