// The examples of Locks.md.

import AOperation
import Foundation
import Synchronization
import Testing

@Suite("Mutual exclusion", .timeLimit(.minutes(1)))
struct LocksExamples {
    final class Migrate: GaugedJob, @unchecked Sendable {}
    final class Vacuum: GaugedJob, @unchecked Sendable {}
    final class CleanCache: Job, @unchecked Sendable {}

    final class Upload: GaugedJob, @unchecked Sendable {
        init(_ part: Int) {
            super.init()
            gauge = LocksExamples.uploads
        }
    }

    final class Transfer: GaugedJob, @unchecked Sendable {
        init(from giver: String, to taker: String) { super.init() }
    }

    enum StoreError: Error {
        case unlocked
    }

    /// Remembers the numbers with which it was written to.
    final class Store: Sendable {
        private let numbers = Mutex<[UInt64]>([])

        var tokens: [UInt64] { numbers.withLock { $0 } }

        func write(_ report: String, fencedBy token: UInt64) { numbers.withLock { $0.append(token) } }
    }

    final class WriteReport: VoidOperation, @unchecked Sendable {
        let report = "all is well"
        let store: Store

        init(to store: Store) {
            self.store = store
            super.init()
        }

        override func execute() {
            guard let token = fencingToken(for: "reports") else { return finish(with: .failure(AOperationError(StoreError.unlocked))) }
            store.write(report, fencedBy: token)
            finish()
        }
    }

    static let uploads = Gauge()
    let queue = AOperationQueue()

    @Test func locks_areNamed() async {
        enum Database {}

        let migrate = Migrate().conditions(MutuallyExclusive<Database>())
        let vacuum = Vacuum().exclusive("database maintenance")
        #expect(await migrate.result(on: queue).error == nil)
        #expect(await vacuum.result(on: queue).error == nil)
    }

    @Test func limit_boundsHowManyHoldALock() async {
        let parts = 1...30
        for part in parts {
            queue.addOperation(Upload(part).exclusive("upload", limit: 3))
        }
        let last = Upload(31).exclusive("upload", limit: 3)
        #expect(await last.result(on: queue).error == nil)
        #expect(Self.uploads.most <= 3)
    }

    @Test func severalLocks_areTakenAtOnce() async {
        let gauge = Gauge()
        let transfer = Transfer(from: "alice", to: "bob")
            .exclusive("account alice")
            .exclusive("account bob")
        let back = Transfer(from: "bob", to: "alice").exclusive("account bob").exclusive("account alice")
        for operation in [transfer, back] {
            operation.gauge = gauge
            operation.add(to: queue)
        }
        for operation in [transfer, back] { #expect(await operation.result(on: queue).error == nil) }
        #expect(gauge.most == 1)
    }

    @Test func fencingTokens_rise() async {
        let store = Store()
        for _ in 1...3 { #expect(await WriteReport(to: store).exclusive("reports").result(on: queue).error == nil) }
        #expect(store.tokens.count == 3)
        #expect(store.tokens == store.tokens.sorted())
        #expect(Set(store.tokens).count == 3)
        #expect(await WriteReport(to: store).result(on: queue).error?.publishedError is StoreError)
    }

    @Test func childrenThatNameOneKey_takeTurns() async {
        let gauge = Gauge()
        let maintenance = GroupOperation(Migrate().exclusive("database"), Vacuum().exclusive("database"), CleanCache())
        for case let child as GaugedJob in maintenance.operations { child.gauge = gauge }
        #expect(await maintenance.result(on: queue).error == nil)
        #expect(gauge.most == 1)
    }
}
