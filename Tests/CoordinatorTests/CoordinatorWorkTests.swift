import Foundation
import GRDB
import Testing
import Wire

@testable import Coordinator

/// Work from submission to result, with the real scheduler, journal and sockets.
@Suite struct CoordinatorWorkTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    init() throws { temporary = try TemporaryDirectory() }

    @Test(arguments: ["tcp://127.0.0.1:0", "inproc://work", "ipc"])
    func submission_isDispatchedAcknowledgedAndShown(transport: String) async throws {
        let endpoint = try Endpoint(transport == "ipc" ? "ipc://\(temporary.path)/socket" : transport)
        try await TestCoordinator.run(in: path, { $0.endpoints = [endpoint] }) { coordinator in
            let worker = try coordinator.peer()
            let welcome = try worker.attach(.executor, incarnation: 1)
            #expect(welcome.name == "here/0")
            #expect(welcome.leaseMilliseconds == 600_000 && welcome.orphanLimitMilliseconds == 600_000)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a"), .noop("b", receives: [1])]))
            guard case .following = try client.request(9, .follow(.with { $0.submission = id })).body else {
                throw Timeout(what: "not followed")
            }
            let first = try worker.assignments(1)[0]
            #expect(first.path == "a" && first.attemptNumber == 1 && first.operation == "noop")
            #expect(first.parameters == Data("{}".utf8) && first.graceMilliseconds == 5000)
            try worker.report(first.unit, first.attempt, .started(.with { $0.startedAt = 5 }))
            try worker.succeed(first, .text("hello"))
            let second = try worker.assignments(1)[0]
            #expect(second.path == "b")
            #expect(second.inputs == [.with { $0.value = .text("hello") }])
            try worker.succeed(second, .text("world"))
            try client.expect { message in
                if case .events(let events) = message.body, events.view.state == .succeeded { () } else { nil }
            }
            #expect(try client.operations(id).map(\.value) == [WireValue(), .text("hello"), .text("world")])
            worker.close()
            client.close()
        }
        #expect(!FileManager.default.fileExists(atPath: temporary.path + "/socket"))
    }

    /// More than a message holds has ended in one step, and the submission with it.
    @Test func endOfManyOperations_isToldOfAll_beforeThatOfTheSubmission() async throws {
        let count = 10_000
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group((0..<count).map { .noop(String(repeating: "n", count: 150) + "\($0)") }))
            _ = try client.request(9, .follow(.with { $0.submission = id }))
            try client.send(
                .with {
                    $0.request = .with {
                        $0.id = 10; $0.cancel.submission = id
                    }
                })
            var (told, parts) = (Set<String>(), 0)
            try client.expect { message -> Void? in
                guard case .events(let events) = message.body else { return nil }
                parts += 1
                told.formUnion(events.events.filter { $0.state == .cancelled }.map(\.path))
                return events.view.state == .cancelled ? () : nil
            }
            #expect(told.count == count && parts > 1)
        }
    }

    @Test func restart_restoresHoldersAndLinesOfLocks_andTokensRise() async throws {
        var graph = WireGraph.group([.noop("a"), .noop("b"), .noop("c")])
        for node in 1...3 { graph.nodes[node].exclusive = [.with { $0.key = "db" }] }
        let submitted = graph
        let (id, running) = try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(submitted)
            let first = try worker.assignments(1)[0]
            #expect(first.path == "a" && first.fences.map(\.key) == ["db"])
            #expect(try client.operations(id).map(\.state) == [.running, .queued, .locking, .locking])
            return (id, first)
        }
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(
                .executor, incarnation: 1,
                held: [
                    .with {
                        $0.unit = running.unit
                        $0.attempt = running.attempt
                        $0.state = .running
                    }
                ])
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 3)
            #expect(try client.operations(id).map(\.state) == [.running, .running, .locking, .locking])
            try worker.succeed(running)
            let second = try worker.assignments(1)[0]
            #expect(second.path == "b" && second.fences[0].token > running.fences[0].token)
            try worker.succeed(second)
            let third = try worker.assignments(1)[0]
            #expect(third.path == "c" && third.fences[0].token > second.fences[0].token)
            worker.close()
            client.close()
        }
    }

    @Test func restart_goesOnWithWhatRuns() async throws {
        let (id, running, epoch) = try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            let welcome = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a"), .noop("b", receives: [1])]))
            let assignment = try worker.assignments(1)[0]
            return (id, assignment, welcome.epoch)
        }
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            let welcome = try worker.attach(
                .executor, incarnation: 1,
                held: [
                    .with {
                        $0.unit = running.unit
                        $0.attempt = running.attempt
                        $0.state = .running
                    }
                ])
            #expect(welcome.epoch > epoch)
            #expect(welcome.drop.isEmpty && welcome.name == "here/0")
            // Its label is known again: what it prints finds its place.
            try worker.send(
                .with {
                    $0.output.chunks = [
                        .with {
                            $0.unit = running.unit
                            $0.attempt = running.attempt
                            $0.bytes = Data("still here".utf8)
                        }
                    ]
                })
            try worker.succeed(running)
            let next = try worker.assignments(1)[0]
            #expect(next.path == "b" && next.attempt > running.attempt)
            try worker.succeed(next)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 3)
            #expect(try client.view(id).state == .succeeded)
            guard case .output(let page) = try client.request(1, .output(.with { $0.submission = id })).body else {
                throw Timeout(what: "no output")
            }
            #expect(page.records.map(\.bytes) == [Data("still here".utf8)] && page.ended)
            #expect(page.records.first?.path == "a" && page.records.first?.attemptNumber == 1)
        }
        // Everything is in the journal: nothing is left to do after another start.
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 4)
            #expect(try client.view(id).state == .succeeded)
        }
    }

    @Test func outputOfWhatFinishedWhileTheCoordinatorWasAway_isKept() async throws {
        let (id, assignment) = try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            return (try client.submit(.group([.noop("a")])), try worker.assignments(1)[0])
        }
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(
                .executor, incarnation: 1,
                held: [
                    .with {
                        $0.unit = assignment.unit
                        $0.attempt = assignment.attempt
                        $0.state = .finished
                    }
                ])
            // No index is so large that it could not be counted on from: such a piece is refused.
            for (index, text) in [(UInt64.max, "absurd"), (0, "last words")] {
                try worker.send(
                    .with {
                        $0.output.chunks = [
                            .with {
                                $0.unit = assignment.unit
                                $0.attempt = assignment.attempt
                                $0.index = index
                                $0.bytes = Data(text.utf8)
                            }
                        ]
                    })
            }
            try worker.succeed(assignment)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 3)
            guard case .output(let page) = try client.request(1, .output(.with { $0.submission = id })).body else {
                throw Timeout(what: "no output")
            }
            #expect(page.records.map(\.bytes) == [Data("last words".utf8)] && page.ended)
        }
    }

    /// The connection broke behind the end: whether the output had come nobody knew.
    @Test func outputThatComesAgainWhenItsAttemptHasEnded_isAcknowledged_andStoredOnce() async throws {
        @Sendable func output(_ unit: WireAssignment, _ indices: Range<UInt64>, from: UInt64) -> WirePeerMessage {
            .with {
                $0.output.chunks = indices.map { index in
                    .with {
                        $0.unit = unit.unit
                        $0.attempt = unit.attempt
                        $0.index = index
                        $0.keepsFrom = from
                        $0.bytes = Data("\(index) ".utf8)
                    }
                }
            }
        }
        @Sendable func receipt(_ worker: FakePeer) throws -> WireOutputReceipt {
            try worker.expect { if case .outputReceipts(let receipts)? = $0.body { receipts.receipts.first } else { nil } }
        }
        let (id, assignment) = try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            #expect(try worker.attach(.executor, incarnation: 1).capabilities.contains(ProtocolVersion.outputReceipts))
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a")]))
            let assignment = try worker.assignments(1)[0]
            try worker.send(output(assignment, 0..<2, from: 0))
            #expect(try receipt(worker).next == 2)
            try worker.succeed(assignment)
            try worker.send(output(assignment, 1..<3, from: 1))
            #expect(try receipt(worker).next == 3)
            return (id, assignment)
        }
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            try worker.send(output(assignment, 2..<4, from: 2))
            #expect(try receipt(worker).next == 4)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 3)
            guard case .output(let page) = try client.request(1, .output(.with { $0.submission = id })).body else {
                throw Timeout(what: "no output")
            }
            #expect(page.records.map { String(decoding: $0.bytes, as: UTF8.self) } == ["0 ", "1 ", "2 ", "3 "])
            #expect(page.records.allSatisfy { $0.path == "a" && $0.attemptNumber == 1 })
        }
    }

    @Test func peerThatAsksForMoreThanItReads_getsItAllAsItReads() async throws {
        let value = Data((0..<Limits.blobChunkBytes).map { UInt8(truncatingIfNeeded: $0 &* 13) })
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            _ = try client.submit(.group([.noop("a")]))
            let assignment = try worker.assignments(1)[0]
            try worker.report(assignment.unit, assignment.attempt, .ended(.with { $0.outcome = .success(.blob(value)) }))
            try worker.give(value)
            try worker.acknowledgement(of: assignment.unit)
            // More than may wait for a peer in all.
            let count = Limits.outboxBytes / Limits.blobChunkBytes + 50
            for _ in 0..<count {
                try worker.send(
                    .with {
                        $0.blobRequest.digest = Data(BlobDigest(hashing: value).bytes)
                        $0.blobRequest.length = UInt32(value.count)
                    })
            }
            for _ in 0..<count {
                try worker.expectAttached { message, bytes in
                    if case .blobChunk = message.body, bytes?.count == value.count { () } else { nil }
                }
            }
        }
    }

    @Test func resentSubmission_isTheSame() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let graph = WireGraph.group([.noop("a")])
            #expect(try client.submit(graph, key: "one") == client.submit(graph, key: "one"))
        }
    }

    @Test func largeResult_isTakenOverBeforeItIsAcknowledged() async throws {
        let value = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a"), .noop("same"), .noop("b", receives: [1])]))
            let assignments = try worker.assignments(2)
            // Both at once, with the same bytes: they are asked for once.
            for assignment in assignments {
                try worker.report(assignment.unit, assignment.attempt, .ended(.with { $0.outcome = .success(.blob(value)) }))
            }
            try worker.give(value)
            for assignment in assignments { try worker.acknowledgement(of: assignment.unit) }
            let receiver = try worker.assignments(1)[0]
            guard case .value(let input) = receiver.inputs.first?.body else { throw Timeout(what: "no input") }
            #expect(try worker.fetch(input.blob) == value)
            try worker.succeed(receiver)
            let operations = try client.operations(id)
            #expect(try client.fetch(operations[1].value.blob) == value)
        }
        let name = BlobDigest(hashing: value).hexadecimal
        #expect(FileManager.default.fileExists(atPath: "\(path)/blobs/\(name.prefix(2))/\(name.dropFirst(2))"))
    }

    @Test func largeResult_isAskedForAgainOnANewConnection() async throws {
        let value = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try await TestCoordinator.run(in: path) { coordinator in
            var worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a")]))
            let assignment = try worker.assignments(1)[0]
            let end = WireUnitReport.OneOf_Body.ended(.with { $0.outcome = .success(.blob(value)) })
            try worker.report(assignment.unit, assignment.attempt, end)
            try worker.giveOnePart(of: value)
            worker.close()
            worker = try coordinator.peer()
            _ = try worker.attach(
                .executor, incarnation: 1,
                held: [
                    .with {
                        $0.unit = assignment.unit
                        $0.attempt = assignment.attempt
                        $0.state = .finished
                    }
                ])
            try worker.report(assignment.unit, assignment.attempt, end)
            try worker.give(value)
            try worker.acknowledgement(of: assignment.unit)
            #expect(try client.fetch(try client.operations(id)[1].value.blob) == value)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/blobs/incoming").isEmpty)
    }

    @Test func resultThatIsNotWhatItsDigestSays_failsTheAttempt() async throws {
        let value = Data(repeating: 1, count: 100_000)
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a")]))
            let assignment = try worker.assignments(1)[0]
            try worker.report(assignment.unit, assignment.attempt, .ended(.with { $0.outcome = .success(.blob(value)) }))
            try worker.giveOnePart(of: Data(repeating: 2, count: 100_000))
            try worker.acknowledgement(of: assignment.unit)
            let message = try client.operations(id)[1].errors.first?.message
            #expect(message?.hasPrefix("the worker's result cannot be taken over: ") == true, "\(message ?? "none")")
        }
    }

    @Test func manyValuesTogetherTooLargeForAMessage_areStored() async throws {
        let count: UInt32 = 30
        let text = String(repeating: "x", count: 60_000)
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1, slots: 40)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let group = WireNode.with {
                $0.id = "g"
                $0.kind = .group(WireGroupNode())
            }
            let nodes = [group] + (0..<count).map { .noop("n\($0)", parent: 1) } + [.noop("all", receives: [1])]
            _ = try client.submit(.group(nodes))
            for assignment in try worker.assignments(Int(count)) { try worker.succeed(assignment, .text(text)) }
            let receiver = try worker.assignments(1)[0]
            guard case .stored(let reference) = receiver.inputs.first?.body else { throw Timeout(what: "not stored") }
            let received = try WireReceived(serializedBytes: try worker.fetch(reference))
            #expect(received.list.elements.count == Int(count))
            #expect(received.list.elements.allSatisfy { $0.value == .text(text) })
        }
    }

    @Test func largeGraph_isAskedFor() async throws {
        let name = String(repeating: "long", count: 50)  // several parts
        let graph = WireGraph.group((0..<4_000).map { .noop("\(name)-\($0)") })
        let bytes = try graph.serializedData()
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            try client.send(
                .with {
                    $0.request = .with {
                        $0.id = 5
                        $0.submit = .with {
                            $0.key = "large"
                            $0.graphBlob = WireBlobReference(digest: BlobDigest(hashing: bytes), size: UInt64(bytes.count))
                        }
                    }
                })
            try client.give(bytes)
            let id = try client.expect { message in
                if case .response(let response) = message.body { response.submitted.id } else { nil }
            }
            #expect(try client.view(id).counts.total == 4_000)
        }
    }

    @Test func output_isReadByOperation() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a"), .noop("b")]))
            for assignment in try worker.assignments(2) {
                try worker.send(
                    .with {
                        $0.output.chunks = (0..<3).map { index in
                            .with {
                                $0.unit = assignment.unit
                                $0.attempt = assignment.attempt
                                $0.stream = .stderr
                                $0.index = UInt64(index)
                                $0.bytes = Data("\(assignment.path)\(index)".utf8)
                            }
                        }
                    })
                try worker.succeed(assignment)
            }
            guard
                case .output(let page) = try client.request(
                    1,
                    .output(
                        .with {
                            $0.submission = id
                            $0.path = "b"
                        })
                ).body
            else { throw Timeout(what: "no output") }
            #expect(page.records.map { String(decoding: $0.bytes, as: UTF8.self) } == ["b0", "b1", "b2"])
            #expect(page.ended && page.id == id)
            guard
                case .failed(let failed) = try client.request(
                    2,
                    .output(
                        .with {
                            $0.submission = id
                            $0.path = "c"
                        })
                ).body
            else { throw Timeout(what: "no failure") }
            #expect(failed.code == .notFound)
        }
    }

    @Test func journalThatCannotBeWritten_endsTheCoordinatorWithoutAnAnswer() async throws {
        let path = path
        let answered = Collector<String>()
        let error = try await #require(throws: CoordinatorError.self) {
            try await TestCoordinator.run(in: path) { coordinator in
                let client = try coordinator.peer()
                _ = try client.attach(.client, incarnation: 2)
                // Another process that writes to the file holds its lock for longer than we wait.
                let intruder = try DatabaseQueue(path: path + "/journal.sqlite")
                try intruder.inDatabase { database in
                    try database.execute(sql: "BEGIN IMMEDIATE")
                    do { answered.add(try client.submit(.group([.noop("a")]))) } catch is Timeout {}
                    try database.execute(sql: "ROLLBACK")
                }
            }
        }
        guard case .journal(.locked) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(answered.rest().isEmpty)
    }
}
