// The examples of GettingStarted.md.

import AOperation
import Foundation
import Testing

final class ReadText: ResultableOperation<String>, @unchecked Sendable {
    let path: String

    init(path: String) {
        self.path = path
        super.init()
    }

    override func execute() {
        finish(with: Result { try String(contentsOfFile: path, encoding: .utf8) }.mapError { AOperationError($0) })
    }
}

final class Archive: VoidOperation, @unchecked Sendable {
    let text: String
    let destination: URL

    init(_ text: String, to destination: URL) {
        self.text = text
        self.destination = destination
        super.init()
    }

    override func execute() {
        do {
            try text.write(to: destination, atomically: true, encoding: .utf8)
            finish()
        } catch {
            finish(with: AOperationError(error))
        }
    }
}

@Suite("Getting started", .timeLimit(.minutes(1)))
struct GettingStartedExamples {
    let files: TemporaryFiles
    let path: String

    init() throws {
        files = try TemporaryFiles()
        path = try files.file("a.txt", "one two three").path()
    }

    @Test func operation_isRunByAQueue() async throws {
        let path = path
        let queue = AOperationQueue()
        ReadText(path: path)
            .didStart { print("reading") }
            .didFinish { result in print(result) }
            .add(to: queue)
        #expect(try await ReadText(path: path).value(on: queue) == "one two three")
    }

    @Test func dependency_isAddedToo_andIsAboutOrder() async {
        let queue = AOperationQueue()
        let path = "/no/such/file"
        let destination = files.directory.appending(path: "copy.txt")
        let read = ReadText(path: path)
        let archive = Archive("a copy", to: destination).dependencies([read])
        archive.willFinish { result, finish in
            DispatchQueue.global().async {
                print("archived:", result)
                finish()
            }
        }
        archive.add(to: queue)
        #expect(await archive.result(on: queue).error == nil)
        #expect(read.outcome?.isFailure == true)
    }

    @Test func errorOfTheWork_isThePublishedError() async {
        let archive = Archive("a copy", to: files.directory)
        let error = await archive.result(on: AOperationQueue()).error
        #expect(error?.publishedError is CocoaError)
        #expect(error?.publisher == "Archive")
    }
}
