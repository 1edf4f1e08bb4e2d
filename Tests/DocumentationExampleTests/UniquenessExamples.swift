// The examples of Uniqueness.md.

import AOperation
import Foundation
import Synchronization
import Testing

@Suite("Uniqueness", .timeLimit(.minutes(1)))
struct UniquenessExamples {
    /// Answers only when it is told to.
    enum Accounts {
        private static let waiting = Mutex<[@Sendable () -> Void]>([])

        static func refresh(_ account: String, _ completion: @escaping @Sendable () -> Void) {
            waiting.withLock { $0.append(completion) }
        }

        static func answer() {
            let answers = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for answer in answers { answer() }
        }
    }

    struct Profile: Equatable {
        var name: String
    }

    final class Refresh: VoidOperation, UniqueOperation, @unchecked Sendable {
        let account: String
        var uniqueId: String { "refresh \(account)" }

        init(_ account: String) {
            self.account = account
            super.init()
        }

        override func execute() {
            Accounts.refresh(account) { [self] in finish() }
        }
    }

    final class LoadProfile: ResultableOperation<Profile>, UniqueOperation, @unchecked Sendable {
        var uniqueId: String { "profile" }
        var onDuplicate: DuplicatePolicy { .join }

        override func execute() {
            finish(with: .success(Profile(name: "Alice")))
        }
    }

    let queue = AOperationQueue()

    @Test func duplicate_isIgnored() async {
        let first = Refresh("alice").add(to: queue)
        let second = Refresh("alice")
        let result = await second.result(on: queue)
        if result.error?.publishedError is AOperationError.IgnoredDuplicate { print("already under way") }
        #expect(result.error?.publishedError is AOperationError.IgnoredDuplicate)
        first.finish()
        #expect(await first.result(on: queue).error == nil)
        Accounts.answer()
    }

    @Test func duplicates_join() async throws {
        let profiles = (1...10).map { _ in LoadProfile() }
        queue.addOperations(profiles, waitUntilFinished: false)
        for profile in profiles { #expect(try await profile.value(on: queue) == Profile(name: "Alice")) }
    }
}
