// The examples of FoundationInterop.md.

import AOperation
import Foundation
import Testing

@Suite("Foundation's queues and operations", .timeLimit(.minutes(1)))
struct FoundationInteropExamples {
    enum Exports {}

    let files: TemporaryFiles
    let path: String

    init() throws {
        files = try TemporaryFiles()
        path = try files.file("a.txt", "one two three").path()
    }

    @Test func plainOperations_runInOurQueue() async {
        let path = path
        let queue = AOperationQueue()
        let prepare = BlockOperation { print("prepared") }
        let read = ReadText(path: path)
        let report = BlockOperation { print("read:", read.isFinished) }
        read.addDependency(prepare)
        report.addDependency(read)
        queue.addOperations([prepare, read, report], waitUntilFinished: false)
        let end = Job()
        end.addDependency(report)
        #expect(await end.result(on: queue).error == nil)
        #expect(prepare.isFinished && read.isFinished && report.isFinished)
    }

    @Test func plainOperation_isComposed() async {
        let export = ComposedOperation(operation: BlockOperation { print("exported") })
            .conditions(MutuallyExclusive<Exports>())
            .didFinish { result in print(result) }
        #expect(await export.result(on: AOperationQueue()).error == nil)
    }

    @Test func ourOperations_runInAPlainQueue() async {
        let path = path
        let plain = OperationQueue()
        let operation = ReadText(path: path)
        operation.didFinish { result in print(result) }
        plain.addOperation(operation)
        await withCheckedContinuation { continuation in operation.didFinish { _ in continuation.resume() } }
        #expect(operation.outcome == .success("one two three"))
    }
}
