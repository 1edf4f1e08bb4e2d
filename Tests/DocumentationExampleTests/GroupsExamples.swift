// The examples of Groups.md.

import AOperation
import Foundation
import Testing

final class Compile: GaugedJob, @unchecked Sendable {
    let module: String

    init(_ module: String) {
        self.module = module
        super.init()
    }
}

final class RunTests: Job, @unchecked Sendable {}
final class Publish: Job, @unchecked Sendable {}

@Suite("Groups", .timeLimit(.minutes(1)))
struct GroupsExamples {
    final class Skip: Job, @unchecked Sendable {}

    final class CheckCache: ResultableOperation<Bool>, @unchecked Sendable {
        let isFresh: Bool

        init(isFresh: Bool) {
            self.isFresh = isFresh
            super.init()
        }

        override func execute() { finish(with: .success(isFresh)) }
    }

    final class Release: OrderedGroupOperation, @unchecked Sendable {
        init(module: String) {
            super.init([Compile(module), RunTests(), Publish()])
            name = "release of \(module)"
            onFailure = .stop
            addCondition(MutuallyExclusive<Release>())
        }
    }

    final class CompileOrSkip: GroupOperation, @unchecked Sendable {
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            guard let check = operation as? CheckCache, let isFresh = try? check.result?.get() else { return }
            addOperation(isFresh ? Skip() : Compile("main"))
        }
    }

    final class Upload: GroupOperation, @unchecked Sendable {
        let transfer: Fetch

        init(transfer: Fetch) {
            self.transfer = transfer
            super.init([transfer, Publish()])
        }

        override func execute() {
            transfer.addObserver(CancelledObserver { [weak self] _ in self?.cancel() })
            super.execute()
        }
    }

    let queue = AOperationQueue()

    @Test func group_keepsToItsLimit_andKnowsEveryOutcome() async {
        let group = GroupOperation(Compile("main"), Compile("parser"), Compile("printer"))
        group.maxConcurrentOperationCount = 2
        group.didFinish { result in print(result) }.add(to: queue)
        #expect(await group.result(on: queue).error == nil)
        for (child, outcome) in zip(group.operations, group.outcomes) {
            switch outcome {
            case .success(let value): print(child.name ?? "", value)
            case .failure(let errors): print(child.name ?? "", errors)
            case .cancelled: print(child.name ?? "", "was cancelled")
            }
        }
        #expect(group.outcomes.count == 3)
        let gauge = Gauge()
        let children = (1...20).map { Compile("\($0)") }
        for child in children { child.gauge = gauge }
        let limited = GroupOperation(children)
        limited.maxConcurrentOperationCount = 2
        #expect(await limited.result(on: queue).error == nil)
        #expect(gauge.most <= 2)
    }

    @Test func stop_cancelsWhatHasNotEnded() async {
        let release = OrderedGroupOperation(Compile("main"), RunTests(), Publish(), onFailure: .stop)
        release.operations[1].cancel()
        let result = await release.result(on: queue)
        #expect(result.error?.publishedError is AOperationError.IsCancelled)
        #expect(release.outcomes.map(\.isCancelled) == [false, true, true])
        #expect(release.publishedErrors.count == 1)
    }

    @Test func subclass_isConfiguredByItself() async {
        let release = Release(module: "parser")
        #expect(await release.result(on: queue).error == nil)
        #expect(release.name == "release of parser")
    }

    @Test(arguments: [true, false]) func group_decidesWhileItRuns(isFresh: Bool) async {
        let group = CompileOrSkip(CheckCache(isFresh: isFresh))
        #expect(await group.result(on: queue).error == nil)
        #expect(group.operations.last is Skip == isFresh)
        #expect(group.operations.count == 2)
    }

    @Test func sequence_goesOnAfterAFailure() async {
        let mirrors = ["https://a.example.org/list", "https://b.example.org/list"]
        let list = OperationSequence { previous in
            guard let previous = previous as? Fetch else { return Fetch(mirrors[0]) }
            guard previous.outcome?.isFailure == true, previous.address == mirrors[0] else { return nil }
            return Fetch(mirrors[1])
        }
        #expect(await list.result(on: queue).error == nil)
        #expect(list.outcomes.count == 1)
        let second = OperationSequence { previous in
            previous == nil ? Fetch("fail") : previous?.publishedErrors.isEmpty == false ? Fetch(mirrors[1]) : nil
        }
        #expect(await second.result(on: queue).error == nil)
        #expect(second.outcomes.map(\.isSuccess) == [false, true])
    }

    @Test func cancelledTransfer_cancelsTheUpload() async {
        let upload = Upload(transfer: Fetch("silent"))
        upload.transfer.grace = .zero
        upload.transfer.didStart { upload.transfer.cancel() }
        let result = await upload.result(on: queue)
        #expect(upload.outcome?.isCancelled == true)
        #expect(result.error?.publisher == "Upload")
    }

    final class ListModules: ResultableOperation<[String]>, @unchecked Sendable {
        let folder: String

        init(in folder: String) {
            self.folder = folder
            super.init()
        }

        override func execute() { finish(with: .success(["Parser", "Printer", "Main"].map { "\(folder)/\($0)" })) }
    }

    final class CountLines: ResultableOperation<Int>, @unchecked Sendable {
        let module: String

        init(of module: String) {
            self.module = module
            super.init()
        }

        override func execute() { finish(with: .success(module.count)) }
    }

    final class Total: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
        var receivedValue: Result<[Int], AOperationError>?

        override func execute() {
            finish(with: (receivedValue ?? .failure(.receivedValueIsNil(in: self))).map { $0.reduce(0, +) })
        }
    }

    @Test func forEach_makesOneForEachElement() async throws {
        let total = ListModules(in: "Sources")
            .forEach(maxConcurrent: 4) { module in CountLines(of: module) }
            .deliver(to: Total())
        #expect(try await total.value(on: queue) == 3 * "Sources/".count + "ParserPrinterMain".count)
    }
}
