import Foundation
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// What is forgotten and printed of a directory on which no coordinator runs.
@Suite struct PruneTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    init() throws { temporary = try TemporaryDirectory() }

    /// Three submissions, of which the first two have ended, the first with a large value.
    private func makeData() async throws -> [String] {
        try await TestCoordinator.run(in: path) { coordinator in
            let (worker, client) = (try coordinator.peer(), try coordinator.peer())
            _ = try worker.attach(.executor, incarnation: 1)
            _ = try client.attach(.client, incarnation: 2)
            defer {
                worker.close()
                client.close()
            }
            let first = try client.submit(.group([.noop("a")]), key: "1")
            let value = Data(repeating: 7, count: 100_000)
            let assignment = try worker.assignments(1)[0]
            try worker.end(assignment, .success(.blob(value)))
            try worker.give(value)
            try worker.acknowledgement(of: assignment.unit)
            let second = try client.submit(.group([.noop("b")]), key: "2")
            try worker.succeed(try worker.assignments(1)[0])
            let third = try client.submit(.group([.noop("c")]), key: "3")
            _ = try worker.assignments(1)
            return [first, second, third]
        }
    }

    private func known() async throws -> [String] {
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 3)
            defer { client.close() }
            let response = try client.request(1, .list(.with { $0.limit = 100 }))
            guard case .submissions(let list)? = response.body else { throw Timeout(what: "not listed: \(response)") }
            return list.submissions.map(\.id)
        }
    }

    private var values: Int {
        let files = FileManager.default.enumerator(atPath: path + "/blobs")?.compactMap { $0 as? String } ?? []
        return files.filter { $0.contains("/") && !$0.hasPrefix("incoming") }.count
    }

    @Test func named_areForgotten_withTheirValues_andTheRestGoesOn() async throws {
        let ids = try await makeData()
        #expect(values == 1)
        let dry = try JournalPrune(dataDirectory: path, .submissions([ids[0], ids[2], "nothere000"]), isDryRun: true)
        #expect(dry.forgotten.map(\.id) == [ids[0]])
        #expect(Set(dry.refused) == [ids[2], "nothere000"], "what runs stays, whoever asks")
        #expect(values == 1 && dry.removedValues == 0)
        let pruned = try JournalPrune(dataDirectory: path, .submissions([ids[0]]))
        #expect(pruned.forgotten.map(\.id) == [ids[0]] && pruned.removedValues == 1 && pruned.removedValueBytes == 100_000)
        #expect(pruned.notCompacted == nil)
        #expect(values == 0)
        #expect(try JournalVerification(dataDirectory: path, hashingValues: true).problems.isEmpty)
        #expect(try await known() == [ids[2], ids[1]])
    }

    /// As one leaves it that ends when what it forgets is in the journal, and the rest is not done.
    @Test func interruptedOne_isFinishedByTheNext() async throws {
        _ = try await makeData()
        let forgotten = SubmissionNumber(1)
        _ = try JournalPrune(dataDirectory: path, .endedBefore(.max))
        do {
            var output = try OutputDatabase(try DataDirectory(path: path))
            try output.append([
                OutputRecord(
                    unit: UnitID(forgotten, 1), attempt: Attempt(epoch: 1, counter: 1), attemptNumber: 1, path: "a", stream: .stdout,
                    index: 0,
                    at: 5, bytes: [1], isTruncated: false)
            ])
            try output.sync()
            try output.close()
        }
        #expect(try JournalPrune(dataDirectory: path, .endedBefore(.max)).forgotten.isEmpty)
        #expect(try OutputDatabase(try DataDirectory(path: path)).submissions.isEmpty)
    }

    /// As a coordinator leaves them that has forgotten something and ends before it makes a snapshot.
    @Test func whatACoordinatorForgot_leavesTheFile_alsoWhereNothingElseIsForgotten() async throws {
        let ids = try await makeData()
        let rows = try {
            let database = try JournalDatabase(try DataDirectory(path: path))
            var scheduler = Scheduler(CoordinatorConfiguration(dataDirectory: path).scheduling)
            let end = try Recovery.fold(database, into: &scheduler).end
            let number = try #require(scheduler.keptSubmissions.first { $0.id == ids[0] }).number
            var batch = JournalBatch(after: end.sequence)
            batch.append(.forgotten(number, at: WallClock.milliseconds()))
            _ = try database.commit([batch], after: end)
            let rows = try database.batchCount()
            try database.close()
            return rows
        }()
        #expect(rows > 0)
        #expect(try JournalPrune(dataDirectory: path, .endedBefore(0)).forgotten.isEmpty)
        let database = try JournalDatabase(try DataDirectory(path: path))
        #expect(try database.batchCount() == 0)
        try database.close()
        #expect(try await known() == [ids[2], ids[1]])
    }

    /// Retention has removed the facts, and the file has the room still.
    @Test func fileThatHasMuchUnused_becomesSmaller_alsoWhereNothingIsForgotten() async throws {
        _ = try await makeData()
        try fill()
        let pruned = try JournalPrune(dataDirectory: path, .endedBefore(0))
        #expect(pruned.forgotten.isEmpty && pruned.notCompacted == nil && pruned.freedBytes >= 4_000_000)
        #expect(try JournalPrune(dataDirectory: path, .endedBefore(0)).freedBytes == 0)
    }

    private func fill() throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        try database.queue.write { database in
            try database.execute(sql: "CREATE TABLE filler (bytes); INSERT INTO filler VALUES (zeroblob(4000000)); DROP TABLE filler")
        }
        try database.close()
    }

    /// As a prune leaves them that was interrupted, or a coordinator that ended before it came to them.
    @Test func valuesThatNothingNames_areTold_andGo_alsoWhereNothingIsForgotten() async throws {
        let ids = try await makeData()
        let files = FileManager.default.enumerator(atPath: path + "/blobs")?.compactMap { $0 as? String } ?? []
        let file = path + "/blobs/" + (try #require(files.first { $0.contains("/") && !$0.hasPrefix("incoming") }))
        let content = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(try JournalVerification(dataDirectory: path).unnamedValues == 0)
        _ = try JournalPrune(dataDirectory: path, .submissions([ids[0]]))
        try content.write(to: URL(fileURLWithPath: file))
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path + "/blobs/incoming/7"))
        let found = try JournalVerification(dataDirectory: path)
        #expect(found.unnamedValues == 2 && found.unnamedValueBytes == 100_003 && found.problems.isEmpty)
        let dry = try JournalPrune(dataDirectory: path, .endedBefore(1), isDryRun: true)
        #expect(dry.leftValues == 2 && dry.leftValueBytes == 100_003 && dry.removedValues == 0 && values == 1)
        // An input that a worker has in its line: the third submission has not ended.
        BlobFile.markHandedOver(file)
        #expect(try JournalPrune(dataDirectory: path, .endedBefore(1)).removedValues == 1)
        #expect(values == 1)
        chmod(file, 0o600)
        let pruned = try JournalPrune(dataDirectory: path, .endedBefore(1))
        #expect(pruned.forgotten.isEmpty && pruned.removedValues == 1 && pruned.removedValueBytes == 100_000 && pruned.leftValues == 1)
        #expect(values == 0)
        #expect(try await known() == [ids[2], ids[1]])
    }

    @Test func byAge_andBySize() async throws {
        let ids = try await makeData()
        #expect(try JournalPrune(dataDirectory: path, .endedBefore(1)).forgotten.isEmpty)
        let all = try JournalPrune(dataDirectory: path, .keepingBytes(0), isDryRun: true)
        #expect(all.forgotten.map(\.id) == [ids[0], ids[1]] && all.keptBytes == 0)
        let one = try JournalPrune(dataDirectory: path, .keepingBytes(1_000))
        #expect(one.forgotten.map(\.id) == [ids[0]], "the first one that ended is the large one")
        let rest = try JournalPrune(dataDirectory: path, .endedBefore(.max))
        #expect(rest.forgotten.map(\.id) == [ids[1]])
        #expect(try await known() == [ids[2]])
    }

    /// The way out when a value was lost: a coordinator does not start without it.
    @Test func missingValue_isRefusedAtTheStart_andItsSubmissionCanBeGivenUp() async throws {
        let ids = try await makeData()
        let files = FileManager.default.enumerator(atPath: path + "/blobs")?.compactMap { $0 as? String } ?? []
        var contents: [String: Data] = [:]
        for file in files where file.contains("/") {
            contents[file] = try Data(contentsOf: URL(fileURLWithPath: path + "/blobs/" + file))
            try FileManager.default.removeItem(atPath: path + "/blobs/" + file)
        }
        let error = try #require(throws: JournalError.self) {
            try Recovery(CoordinatorConfiguration(dataDirectory: path), logger: TestCoordinator.quiet)
        }
        guard case .missingValues(_, 1, "\(ids[0])/a") = error else {
            Issue.record("\(error)")
            return
        }
        #expect("\(error)".contains("aop journal give-up"))
        #expect(try JournalLoss(dataDirectory: path).values.map(\.place) == ["\(ids[0])/a"])
        #expect(try JournalVerification(dataDirectory: path).givenUp == ["\(ids[0])/a"])
        #expect(try await known() == [ids[2], ids[1], ids[0]])
        // Once it was there again it is missed again.
        for (file, content) in contents { try content.write(to: URL(fileURLWithPath: path + "/blobs/" + file)) }
        #expect(try await known() == [ids[2], ids[1], ids[0]])
        for file in contents.keys { try FileManager.default.removeItem(atPath: path + "/blobs/" + file) }
        #expect(throws: JournalError.self) { try Recovery(CoordinatorConfiguration(dataDirectory: path), logger: TestCoordinator.quiet) }
        _ = try JournalPrune(dataDirectory: path, .submissions([ids[0]]))
        #expect(try await known() == [ids[2], ids[1]])
    }

    @Test func export_printsEveryFact_asJSON() async throws {
        let ids = try await makeData()
        var lines: [String] = []
        let export = try JournalExport(dataDirectory: path) { lines.append($0) }
        #expect(export.first == 1 && Int(export.facts) == lines.count && lines.count > 6)
        var kinds: Set<String> = []
        for (index, line) in lines.enumerated() {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["sequence"] as? Int == index + 1)
            kinds.formUnion(try #require(object["fact"] as? [String: Any], "\(line)").keys)
        }
        #expect(kinds.isSuperset(of: ["epochStarted", "workerMet", "submitted", "assigned", "attemptEnded"]), "\(kinds)")
        #expect(lines.contains { $0.contains("\"id\":\"\(ids[0])\"") })
    }

    @Test func strings_areEscaped() throws {
        let line = FactJSON.line(.lockSeized(UnitID(SubmissionNumber(1), 2), key: "a\"\\\n\u{1}ü", reason: "", at: -5), sequence: 9)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect("\(object)".contains("ü"))
        let fact = try #require((object["fact"] as? [String: Any])?["lockSeized"] as? [String: Any])
        #expect(fact["key"] as? String == "a\"\\\n\u{1}ü" && fact["at"] as? Int == -5)
    }
}
