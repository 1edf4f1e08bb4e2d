import Foundation
import Logging
import Wire

@testable import Coordinator
@testable import Scheduling

/// A data directory as a crash leaves it, and what becomes of a coordinator that starts on it when one place in it is damaged.
final class DamagedDirectory {
    struct Damage: CustomStringConvertible {
        enum Kind: CaseIterable { case bit, bytes, zeros, noise, cut }
        let file: String
        let offset: Int
        let kind: Kind
        let seed: UInt64
        var description: String { "seed \(seed): \(kind) at \(offset) of \(file)" }
    }

    enum Outcome: Equatable {
        /// Everything that was acknowledged is there; `cut`: a transaction that nobody was told of was dropped, and that was said.
        case recovered(cut: Bool)
        case refused(String)
        /// It started, and a large value in it is not what was written, which whoever reads it finds.
        case damagedValue
    }

    struct Violation: Error, CustomStringConvertible { let description: String }

    private let template: String
    private let path: String
    private let names: [String]
    private let facts: [Fact]
    private let acknowledged: [UInt64: JournalEnd]
    private let sections: [[UInt8]]
    /// Those that have partial results.
    private let senders: [SubmissionNumber]

    /// - Parameter temporary: an empty directory.
    init(in temporary: String) throws {
        (template, path) = (temporary + "/template", temporary + "/damaged")
        let work = temporary + "/work"
        let made = try Self.fill(work)
        (facts, acknowledged) = (made.facts, made.ends)
        var scheduler = Scheduler(Self.configuration(work).scheduling)
        for fact in facts { try scheduler.restore(fact) }
        sections = Self.sections(of: scheduler)
        senders = scheduler.submissionIDs.keys.sorted().prefix(3).map { $0 }
        let elements = try SentElements.fill(work, senders)
        try FileManager.default.createDirectory(
            atPath: template, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.removeItem(atPath: template)
        // While the database is open: its log is as it is when the process is killed.
        try FileManager.default.copyItem(atPath: work, toPath: template)
        for file in ["journal", "elements"] { try? FileManager.default.removeItem(atPath: template + "/\(file).sqlite-shm") }
        let all = FileManager.default.enumerator(atPath: template)?.compactMap { $0 as? String } ?? []
        let folder = template
        names = all.filter { name in
            var isDirectory: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: folder + "/" + name, isDirectory: &isDirectory)
            return isThere && !isDirectory.boolValue && name != "coordinator.lock"
        }.sorted()
        withExtendedLifetime((made.database, elements)) {}
    }

    private static func configuration(_ path: String) -> CoordinatorConfiguration { CoordinatorConfiguration(dataDirectory: path) }

    /// Facts of a cluster that has worked, half of them in a snapshot, the rest half in the file and half in its log.
    private static func fill(_ path: String) throws -> (facts: [Fact], ends: [UInt64: JournalEnd], database: JournalDatabase) {
        let directory = try DataDirectory(path: path)
        var blobs = try BlobStore(path: directory.blobsPath)
        var keys: [BlobKey] = []
        for number in 0..<3 { keys.append(try blobs.store(Data(repeating: UInt8(number), count: 70_000))) }
        let facts = Work.facts(values: keys)
        let database = try JournalDatabase(directory)
        var (end, ends) = (JournalEnd.empty, [UInt64: JournalEnd]())
        func commit(_ range: Range<Int>) throws {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 3) {
                end = try database.commit([batch(Array(facts[start..<min(start + 3, range.upperBound)]), after: end)], after: end)
                ends[end.sequence.rawValue] = end
            }
        }
        let third = facts.count / 3
        try commit(0..<third)
        let maker = SnapshotMaker(
            scheduling: configuration(path).scheduling, path: database.path, logger: TestCoordinator.quiet, perform: { try $0(database) })
        _ = try maker.make(upTo: end.sequence)
        try commit(third..<2 * third)
        _ = try database.setting("wal_checkpoint(TRUNCATE)")
        try commit(2 * third..<facts.count)
        return (facts, ends, database)
    }

    func damage(_ seed: UInt64) throws -> Damage {
        var random = SplitMix64(seed: seed)
        let journals = names.filter { $0.hasPrefix("journal.sqlite") }
        let elements = names.filter { $0.hasPrefix("elements.") }
        let draw = random.next() % 10
        let pool = draw < 6 ? journals : draw < 8 ? elements : names
        let file = pool[Int(random.next() % UInt64(pool.count))]
        let size = try bytes(of: template + "/" + file).count
        let kinds = Damage.Kind.allCases
        return Damage(
            file: file, offset: Int(random.next() % UInt64(max(1, size))), kind: kinds[Int(random.next() % UInt64(kinds.count))], seed: seed
        )
    }

    private func bytes(of path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// Puts the damage into a copy and starts on it.
    ///
    /// - Throws: `Violation`: something acknowledged is missing, or was changed, or nobody is told what to do.
    func start(with damage: Damage) throws -> Outcome {
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: template, toPath: path)
        var content = try bytes(of: path + "/" + damage.file)
        let before = content
        apply(damage, to: &content)
        try Data(content).write(to: URL(fileURLWithPath: path + "/" + damage.file))
        // Of every second one nobody was told of the last transaction: it may be dropped.
        let last = acknowledged.keys.max() ?? 0
        var known = last
        if damage.seed % 2 == 0, damage.file != "journal.acknowledged" {
            known = acknowledged.keys.filter { $0 < last }.max() ?? 0
            if let end = acknowledged[known] {
                try JournalWitness(try DataDirectory(path: path)).note(end)
            }
        }
        let files = ["journal.sqlite", "journal.sqlite-wal", "elements.sqlite", "elements.sqlite-wal"]
        let given = try files.map { try bytes(of: path + "/" + $0) }
        let log = LogRecorder()
        do {
            let cut = try recover(reaching: known, log, damage)
            return try checkValues(damage, isChanged: content != before) ?? .recovered(cut: cut)
        } catch let violation as Violation { throw violation } catch {
            let text = "\(error)"
            let advice = ["put a backup", "from a backup", "begin without it", "health of the disk", "the newer release"]
            guard advice.contains(where: text.contains) else {
                throw Violation(description: "\(damage): refused without saying what to do: \(text)")
            }
            guard error is JournalError, try files.map({ try bytes(of: path + "/" + $0) }) == given else {
                throw Violation(description: "\(damage): refused, and the files were changed: \(text)")
            }
            return .refused(text)
        }
    }

    /// - Returns: whether a transaction that nobody was told of was dropped.
    private func recover(reaching known: UInt64, _ log: LogRecorder, _ damage: Damage) throws -> Bool {
        let recovery = try Recovery(Self.configuration(path), logger: log.logger)
        let cut = try check(recovery, reaches: known, log, damage)
        if let problem = SentElements.problem(recovery.elements, senders) { throw Violation(description: "\(damage): \(problem)") }
        try recovery.elements.close()
        try recovery.database.close()
        return cut
    }

    private func check(_ recovery: Recovery, reaches known: UInt64, _ log: LogRecorder, _ damage: Damage) throws -> Bool {
        let end = recovery.end.sequence.rawValue - 1
        guard end >= known else { throw Violation(description: "\(damage): fact \(known) was acknowledged, and it starts behind \(end)") }
        let isCut = end < UInt64(facts.count)
        // A log that ends between two transactions is whole, and there is nothing to say.
        if isCut, damage.kind != .cut, !log.lines.contains(where: { $0.contains("was dropped; nobody had been told of it") }) {
            throw Violation(description: "\(damage): it starts behind \(end) of \(facts.count) facts and says nothing")
        }
        // The state is that of the facts, bit for bit; the last one is the new epoch's.
        var scheduler = Scheduler(Self.configuration(path).scheduling)
        let snapshot = try recovery.database.newestSnapshot()
        if let snapshot { try recovery.database.read(snapshot) { try scheduler.restore(section: $0[...]) } }
        _ = try recovery.database.fold(after: snapshot?.end ?? .empty) { fact in
            if scheduler.sequence.rawValue < end { try scheduler.restore(fact) }
        }
        var expected = sections
        if isCut {
            var shorter = Scheduler(Self.configuration(path).scheduling)
            for fact in facts.prefix(Int(end)) { try shorter.restore(fact) }
            expected = Self.sections(of: shorter)
        }
        guard Self.sections(of: scheduler) == expected else { throw Violation(description: "\(damage): it starts in another state") }
        return isCut
    }

    /// A value that is not what was written is found by everybody who looks at its content.
    private func checkValues(_ damage: Damage, isChanged: Bool) throws -> Outcome? {
        guard damage.file.hasPrefix("blobs/"), isChanged else { return nil }
        let found = try JournalVerification(dataDirectory: path, hashingValues: true)
        guard !found.problems.isEmpty else { throw Violation(description: "\(damage): a large value was changed, and nothing finds it") }
        return .damagedValue
    }

    private func apply(_ damage: Damage, to content: inout [UInt8]) {
        var random = SplitMix64(seed: damage.seed ^ 0xD1CE)
        guard damage.offset < content.count else { return }
        func fill(_ start: Int, _ count: Int, _ byte: (UInt8) -> UInt8) {
            for place in start..<min(content.count, start + count) { content[place] = byte(content[place]) }
        }
        switch damage.kind {
        case .bit: content[damage.offset] ^= 1 << UInt8(random.next() % 8)
        case .bytes: fill(damage.offset, 1 + Int(random.next() % 8)) { _ in UInt8(truncatingIfNeeded: random.next()) }
        case .zeros: fill(damage.offset / 512 * 512, random.next() % 2 == 0 ? 512 : 4096) { _ in 0 }
        case .noise: fill(damage.offset / 512 * 512, 512) { _ in UInt8(truncatingIfNeeded: random.next()) }
        case .cut: content.removeLast(content.count - damage.offset)
        }
    }

    private static func sections(of scheduler: Scheduler) -> [[UInt8]] {
        var all: [[UInt8]] = []
        scheduler.writeSnapshot { all.append($0) }
        return all
    }
}

/// What the first operation of some submissions has sent.
private enum SentElements {
    private static let count: UInt64 = 24

    private static func element(_ index: UInt64, of sender: SubmissionNumber) -> ElementRun.Element {
        .init(index: index, encoding: 1, bytes: Array("\(sender.rawValue) has sent \(index)".utf8) + [UInt8](repeating: 7, count: 300))
    }

    /// Half of them in the file, the rest in its log. The lock of the directory is free.
    ///
    /// - Returns: what keeps the log as it is.
    static func fill(_ path: String, _ senders: [SubmissionNumber]) throws -> ElementDatabase {
        let directory = try DataDirectory(path: path)
        var spool = try ElementDatabase(directory, totalBytesMax: .max)
        func append(_ range: Range<UInt64>) throws {
            for first in stride(from: range.lowerBound, to: range.upperBound, by: 3) {
                for sender in senders {
                    let run = ElementRun(
                        peer: PeerID(9), unit: UnitID(sender, 1), attempt: Attempt(epoch: 1, counter: 1), number: 1, first: first,
                        elements: (first..<first + 3).map { element($0, of: sender) }, isClosed: first + 3 == count)
                    _ = try spool.append([run])
                }
            }
        }
        try append(0..<count / 2)
        try spool.close()
        spool = try ElementDatabase(directory, totalBytesMax: .max)
        try append(count / 2..<count)
        return spool
    }

    /// What readers are given that is not so, or are not given and not told of.
    static func problem(_ spool: ElementDatabase, _ senders: [SubmissionNumber]) -> String? {
        for sender in senders {
            var (next, isWhole) = (UInt64(0), false)
            do {
                while !isWhole {
                    let page = try spool.read(ElementQuery(unit: UnitID(sender, 1), number: 1, from: next, limitBytes: 1000))
                    if let wrong = page.elements.first(where: { $0 != element($0.index, of: sender) || $0.index >= count }) {
                        return "a reader of \(sender.rawValue) is given another element \(wrong.index)"
                    }
                    (next, isWhole) = (page.next, !page.more)
                }
            } catch { continue }  // that reader is told
            if next < count { return "a reader of \(sender.rawValue) has \(next) of \(count) elements, and is told nothing" }
        }
        return nil
    }
}

/// Decisions of a scheduler with one worker.
private enum Work {
    static func facts(values: [BlobKey]) -> [Fact] {
        var scheduler = Scheduler(.init())
        var (outputs, facts) = (Outputs(), [Fact]())
        var now = Instant(boot: 1, wall: 1_700_000_000_000)
        scheduler.start(at: now, incarnation: Incarnation(1), into: &outputs)
        facts += outputs.facts
        let worker = PeerID(9)
        func step(_ inputs: [Input]) -> [Assignment] {
            now = Instant(boot: now.boot + 10, wall: now.wall + 10)
            outputs.removeAll()
            scheduler.step([.heard(worker)] + inputs, at: now, into: &outputs)
            facts += outputs.facts
            return outputs.sends.flatMap { send -> [Assignment] in if case .dispatch(let list) = send.message { list } else { [] } }
        }
        let identity = WorkerIdentity(incarnation: Incarnation(5), name: "h/0", host: "h", pid: 1)
        var work = step([
            .executorAttached(
                worker, ExecutorAttachment(identity: identity, slots: 8, operations: [OperationSignature(name: "t")], labels: [], held: []))
        ])
        var made = 0
        for number in 0..<12 {
            work += step([
                .request(
                    RequestID(peer: PeerID(1), number: UInt64(number)),
                    .submit(
                        key: "k\(number)", name: "", graph: ExaminedGraph(graph(number)), waitForWorkers: true))
            ])
            for _ in 0..<6 {
                let ends: [Input] = work.map { assignment in
                    made += 1
                    let isLarge = made % 7 == 0 && !values.isEmpty
                    let key = isLarge ? values[made % values.count] : nil
                    let storage = key.map { Payload.Storage.blob(digest: $0.digest.bytes, size: $0.size) } ?? .inline(Array("\(made)".utf8))
                    return .ended(
                        worker, assignment.unit, assignment.attempt, .success(Payload(encoding: .bytes, storage: storage)),
                        startedAt: now.wall, at: now.wall + 1)
                }
                work = step(ends)
            }
        }
        return facts
    }

    private static func graph(_ number: Int) -> Graph {
        let nodes =
            [Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: number % 2 == 0)))]
            + (0..<(3 + number)).map { Node(id: "n\($0)", parent: 0, kind: .operation(OperationNode(type: "t", parameters: 0))) }
        return Graph(
            name: "g\(number)", nodes: nodes, parameters: [Array("{\"text\":\"\(String(repeating: "x", count: 40 * number))\"}".utf8)])
    }
}
