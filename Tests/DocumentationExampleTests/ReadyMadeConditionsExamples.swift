// The examples of ReadyMadeConditions.md.

import AOperation
import Foundation
import Synchronization
import Testing

@Suite("Ready-made conditions", .timeLimit(.minutes(1)))
struct ReadyMadeConditionsExamples {
    final class Backup: Job, @unchecked Sendable {}
    final class Sync: Job, @unchecked Sendable {}
    final class Record: Job, @unchecked Sendable {}

    final class Upload: Job, @unchecked Sendable {
        init(_ file: URL) { super.init() }
    }

    struct Never: AOperationCondition {
        static let key = "Never"

        func evaluateForOperation(
            _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
        ) {
            completion(.failure(AOperationError(CocoaError(.featureUnsupported))))
        }
    }

    typealias IsIdle = TrueCondition
    typealias IsNight = TrueCondition
    typealias WasAskedFor = Never
    typealias IsRunningOnBattery = Never

    /// Who is asked, and what was answered.
    final class Consent: Sendable {
        private let state = Mutex((microphone: Microphone.Status.undecided, questions: 0))
        private let answer: Microphone.Status

        init(answer: Microphone.Status) {
            self.answer = answer
        }

        var microphone: Microphone.Status { state.withLock { $0.microphone } }
        var questions: Int { state.withLock { $0.questions } }

        func ask(_ completion: @escaping @Sendable () -> Void) {
            DispatchQueue.global().async { [self] in
                state.withLock { state in
                    state.microphone = answer
                    state.questions += 1
                }
                completion()
            }
        }
    }

    struct Microphone: Capability {
        enum Status { case undecided, denied, allowed }

        let consent: Consent

        func getAuthorizationStatus(_ completion: @escaping @Sendable (Status) -> Void) {
            completion(consent.microphone)
        }

        func isSufficient(_ status: Status) -> Bool { status == .allowed }

        func requestAuthorization(_ completion: @escaping @Sendable () -> Void) {
            consent.ask(completion)
        }
    }

    let queue = AOperationQueue()

    @Test func failedDependency_failsTheCondition() async {
        let build = Job()
        let test = Job()
        let publish = Publish()
            .dependencies([build, test])
            .conditions(NoFailedDependencies())
        test.cancel()
        let error = await publish.result(on: queue).error
        #expect((error?.publishedError as? NoFailedDependencies.Error)?.canceledDependencies == ["Job"])
        let lenient = Publish().dependencies([test]).conditions(NoFailedDependencies(ignoreCancellations: true))
        #expect(await lenient.result(on: queue).error == nil)
    }

    @Test func combinations_hold() async {
        let backup = Backup().conditions(
            OrCondition(AndCondition(IsIdle(), IsNight()), WasAskedFor()),
            NegatedCondition(IsRunningOnBattery()))
        #expect(await backup.result(on: queue).error == nil)
        let ignored = Backup().conditions(IgnoredCondition(FalseCondition()))
        _ = await ignored.result(on: queue)
        #expect(ignored.outcome?.isCancelled == true)
        let never = Backup().conditions(OrCondition(Never(), FalseCondition()))
        #expect((await never.result(on: queue).error?.publishedError as? OrCondition.Error)?.errors.count == 2)
    }

    @Test func block_decides() async {
        @Sendable func fileSize(_ file: URL) throws -> Int { try Data(contentsOf: file).count }
        let file = URL(filePath: "/no/such/file")
        let upload = Upload(file).conditions(
            BlockCondition { try fileSize(file) < 1_000_000 })
        let error = await upload.result(on: queue).error
        #expect(error?.publishedError is CocoaError)
        #expect(error?.publisher == "BlockCondition")
    }

    @Test func reachability_failsWithoutAServer() async throws {
        let server = try #require(URL(string: "http://127.0.0.1:1"))
        let sync = Sync().conditions(ReachabilityCondition(url: server, waitToConnect: true))
        sync.add(to: queue).cancel()
        _ = await sync.result(on: queue)
        #expect(sync.outcome?.isCancelled == true)
        let impatient = Sync().conditions(ReachabilityCondition(url: server))
        #expect(await impatient.result(on: queue).error?.publishedError is ReachabilityCondition.Error)
    }

    @Test(arguments: [Microphone.Status.allowed, .denied]) func capability_isAskedForOnce(answer: Microphone.Status) async {
        let consent = Consent(answer: answer)
        let record = Record().conditions(AuthorizedFor(Microphone(consent: consent)))
        let error = await record.result(on: queue).error
        #expect((error == nil) == (answer == .allowed))
        #expect(error == nil || error?.publishedError is CapabilityError)
        #expect(consent.questions == 1)
        let silent = Record().conditions(SilentCondition(AuthorizedFor(Microphone(consent: consent))))
        #expect((await silent.result(on: queue).error == nil) == (answer == .allowed))
        #expect(consent.questions == 1)
    }
}
