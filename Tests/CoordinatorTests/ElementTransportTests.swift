import Foundation
import GRDB
import Testing
import Wire

@testable import Coordinator

/// Partial results between executors, the coordinator and its clients, with the real sockets.
@Suite struct ElementTransportTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    init() throws { temporary = try TemporaryDirectory() }

    @Test func elementsOfAnotherAttempt_areNotTaken() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let (worker, client, id) = try Self.begin(coordinator)
            let unit = try worker.assignments(1)[0]
            try worker.sendElements(unit.unit, unit.attempt + 1, [0, 1])
            try worker.sendElements(unit.unit, unit.attempt, [0])
            #expect(try worker.receipt().next == 1)
            #expect(try client.elements(id).elements.map(\.index) == [0])
        }
    }

    @Test func elementsOfAFencedAttempt_areNotTaken() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let (worker, client, id) = try Self.begin(coordinator) { $0.exclusive = [.with { $0.key = "db" }] }
            let unit = try worker.assignments(1)[0]
            try worker.sendElements(unit.unit, unit.attempt, [0])
            #expect(try worker.receipt().next == 1)
            try client.send(
                .with {
                    $0.request.id = 60
                    $0.request.releaseLock = .with {
                        $0.key = "db"
                        $0.now = true
                        $0.holders = ["\(id)/a"]
                    }
                })
            let released: [String] = try client.expect { message in
                if case .response(let response) = message.body, case .lockReleased(let released)? = response.body {
                    released.holders
                } else {
                    nil
                }
            }
            #expect(released == ["\(id)/a"])
            try worker.sendElements(unit.unit, unit.attempt, [1, 2])
            try worker.succeed(unit)
            let end = try client.elements(id)
            #expect(end.elements.map(\.index) == [0] && end.ended && end.failures.map(\.code) == [.fenced])
        }
    }

    @Test func waitingReader_isAnswered_byElements_byAnotherAttempt_andByTheEnd() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let (worker, client, id) = try Self.begin(coordinator, retries: 1)
            let first = try worker.assignments(1)[0]
            try client.ask(50, id, attempt: 0, index: 0)
            // Answers to others come meanwhile.
            #expect(try client.view(id).counts.total == 1)
            try worker.sendElements(first.unit, first.attempt, [0, 1])
            let page = try client.answer(50)
            #expect(page.attempt == 1 && page.elements.map(\.index) == [0, 1] && page.next == 2 && !page.ended)

            try client.ask(51, id, attempt: 1, index: 2)
            try worker.report(
                first.unit, first.attempt, .ended(.with { $0.outcome = .failure(.with { $0.errors = [.with { $0.message = "no" }] }) }))
            let second = try worker.assignments(1)[0]
            try worker.report(second.unit, second.attempt, .started(.with { $0.startedAt = 5 }))
            let restart = try client.answer(51)
            #expect(restart.attempt == 2 && restart.elements.isEmpty && restart.next == 0)

            try client.ask(52, id, attempt: 2, index: 0)
            try worker.succeed(second)
            let end = try client.answer(52)
            #expect(end.attempt == 2 && end.elements.isEmpty && end.ended)
        }
    }

    /// The next attempt has its number: who was told of that does not go back.
    @Test func readerOfAnAttemptThatWasGivenBackUnbegun_staysAtItsNumber() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let (worker, client, id) = try Self.begin(coordinator, retries: 1)
            let first = try worker.assignments(1)[0]
            try worker.sendElements(first.unit, first.attempt, [0, 1])
            #expect(try worker.receipt().next == 2)
            try worker.report(
                first.unit, first.attempt, .ended(.with { $0.outcome = .failure(.with { $0.errors = [.with { $0.message = "no" }] }) }))
            let second = try worker.assignments(1)[0]
            try client.ask(50, id, attempt: 1, index: 2, waits: false)
            #expect(try client.answer(50).attempt == 2)
            try worker.report(second.unit, second.attempt, .released(WireReleased()))
            while try client.operations(id).first(where: { $0.path == "a" })?.attempts != 1 {}
            try client.ask(51, id, attempt: 2, index: 0, waits: false)
            let page = try client.answer(51)
            #expect(page.attempt == 2 && page.elements.isEmpty && !page.ended)
            #expect(try client.elements(id).elements.map(\.index) == [0, 1])
        }
    }

    @Test func restart_keepsElements_andTakesNoneTwice() async throws {
        let (id, unit) = try await TestCoordinator.run(in: path) { coordinator in
            let (worker, _, id) = try Self.begin(coordinator)
            let unit = try worker.assignments(1)[0]
            try worker.sendElements(unit.unit, unit.attempt, [0, 1])
            #expect(try worker.receipt().next == 2)
            return (id, unit)
        }
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            let held = WireHeldUnit.with {
                $0.unit = unit.unit
                $0.attempt = unit.attempt
                $0.state = .running
            }
            #expect(try worker.attach(.executor, incarnation: 1, held: [held]).drop.isEmpty)
            try worker.sendElements(unit.unit, unit.attempt, [0, 1, 2], closed: true)
            let receipt = try worker.receipt()
            #expect(receipt.next == 3 && receipt.closed && receipt.full.isEmpty)
            try worker.succeed(unit)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let page = try client.elements(id)
            #expect(page.elements.map(\.index) == [0, 1, 2] && page.ended)
        }
    }

    /// What was acknowledged is not sent again: who lost it says so, and goes on.
    @Test func spoolThatIsGone_holdsNothingUp_andItsReadersAreToldHowManyTheyMiss() async throws {
        let (id, unit) = try await TestCoordinator.run(in: path) { coordinator in
            let (worker, _, id) = try Self.begin(coordinator)
            let unit = try worker.assignments(1)[0]
            try worker.sendElements(unit.unit, unit.attempt, [0, 1])
            #expect(try worker.receipt().next == 2)
            return (id, unit)
        }
        try removeSpool()
        let log = LogRecorder()
        try await TestCoordinator.run(in: path, logger: log.logger) { coordinator in
            let worker = try coordinator.peer()
            let held = WireHeldUnit.with {
                $0.unit = unit.unit
                $0.attempt = unit.attempt
                $0.state = .running
            }
            #expect(try worker.attach(.executor, incarnation: 1, held: [held]).drop.isEmpty)
            try worker.sendElements(unit.unit, unit.attempt, [2], closed: true)
            let receipt = try worker.receipt()
            #expect(receipt.next == 3 && receipt.closed && receipt.full.isEmpty)
            try worker.succeed(unit)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let page = try client.elements(id)
            #expect(page.elements.map(\.index) == [2] && page.next == 3 && page.ended)
        }
        #expect(log.lines.contains { $0.contains("2 partial results of 1 operation were acknowledged and are lost") })
    }

    @Test func spoolOfAnOperationThatHasEnded_isMissed_byTheStart_byVerify_andByReaders() async throws {
        let id = try await TestCoordinator.run(in: path) { coordinator in
            let (worker, _, id) = try Self.begin(coordinator)
            let unit = try worker.assignments(1)[0]
            try worker.sendElements(unit.unit, unit.attempt, [0, 1, 2], closed: true)
            #expect(try worker.receipt().closed)
            try worker.succeed(unit)
            return id
        }
        #expect(try JournalVerification(dataDirectory: path).partialResultProblems.isEmpty)
        try removeSpool()
        let found = try JournalVerification(dataDirectory: path)
        #expect(found.problems.isEmpty)
        let expected = "submission \(id), unit 1, attempt 1: 3 partial results from 0 on were acknowledged and are lost"
        #expect(found.partialResultProblems == [expected])
        let log = LogRecorder()
        try await TestCoordinator.run(in: path, logger: log.logger) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 3)
            let page = try client.elements(id)
            #expect(page.elements.isEmpty && page.next == 3 && page.ended)
        }
        #expect(log.lines.contains { $0.contains("3 partial results of 1 operation were acknowledged and are lost") })
        #expect(try JournalVerification(dataDirectory: path).partialResultProblems.isEmpty, "readers are told, and it was said")
    }

    @Test func damagedElement_isNamedToItsReader_andByVerify() async throws {
        let id = try await TestCoordinator.run(in: path) { coordinator in
            let (worker, _, id) = try Self.begin(coordinator)
            let unit = try worker.assignments(1)[0]
            try worker.sendElements(unit.unit, unit.attempt, [0, 1], closed: true)
            #expect(try worker.receipt().closed)
            try worker.succeed(unit)
            return id
        }
        try tamper("UPDATE element SET bytes = x'39' WHERE position = 0")
        #expect(
            try JournalVerification(dataDirectory: path).partialResultProblems
                == ["submission \(id), unit 1, attempt 1: the partial result 0 is not what was written"])
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 3)
            try client.ask(50, id, attempt: 0, index: 0, waits: false)
            let reason: String = try client.expect { message in
                if case .response(let response) = message.body, response.request == 50, case .failed(let failed)? = response.body {
                    failed.message
                } else {
                    nil
                }
            }
            #expect(reason.contains("the stored partial result 0 of attempt 1 is damaged"))
        }
    }

    private func tamper(_ sql: String) throws {
        let queue = try DatabaseQueue(path: path + "/elements.sqlite")
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func removeSpool() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasPrefix("elements.sqlite") {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
    }

    private static func begin(
        _ coordinator: TestCoordinator, retries: UInt32 = 0, _ change: (inout WireNode) -> Void = { _ in }
    ) throws -> (FakePeer, FakePeer, String) {
        let worker = try coordinator.peer()
        _ = try worker.attach(.executor, incarnation: 1)
        let client = try coordinator.peer()
        _ = try client.attach(.client, incarnation: 2)
        var node = WireNode.noop("a")
        node.retries = retries
        node.backoff = .with { $0.kind = .constant }
        change(&node)
        return (worker, client, try client.submit(.group([node])))
    }
}

extension FakePeer {
    fileprivate func sendElements(_ unit: UInt64, _ attempt: UInt64, _ indices: [UInt64], closed: Bool = false) throws {
        let run = WireElementRun.with {
            $0.unit = unit
            $0.attempt = attempt
            $0.closed = closed
            $0.first = indices.first ?? 0
            $0.elements = indices.map { index in
                .with {
                    $0.index = index
                    $0.encoding = .text
                    $0.bytes = Data("\(index)".utf8)
                }
            }
        }
        try send(.with { $0.elements.runs = [run] })
    }

    fileprivate func receipt() throws -> WireElementReceipt {
        try expect { message in
            if case .elementReceipts(let receipts) = message.body { receipts.receipts.first } else { nil }
        }
    }

    /// Asks and does not wait for the answer.
    fileprivate func ask(_ request: UInt64, _ id: String, attempt: UInt32, index: UInt64, waits: Bool = true) throws {
        try send(
            .with {
                $0.request.id = request
                $0.request.elements = .with {
                    $0.submission = id
                    $0.path = "a"
                    $0.attempt = attempt
                    $0.index = index
                    $0.wait = waits
                }
            })
    }

    fileprivate func answer(_ request: UInt64) throws -> WireElementPage {
        try expect { message in
            if case .response(let response) = message.body, response.request == request, case .elements(let page)? = response.body {
                page
            } else {
                nil
            }
        }
    }

    fileprivate func elements(_ id: String) throws -> WireElementPage {
        try ask(99, id, attempt: 0, index: 0, waits: false)
        return try answer(99)
    }
}
