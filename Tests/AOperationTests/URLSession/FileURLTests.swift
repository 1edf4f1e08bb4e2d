import Foundation
import Testing

@testable import AOperation

/// `file:` URLs, which Foundation's sessions do not load on Linux.
@Suite(.timeLimit(Load.patience))
struct FileURLTests {
    let queue = AOperationQueue()

    @Test func L8_fileURL_isLoadedAsDataAndDownloaded() async throws {
        let scratch = try Scratch()
        let body = bytes(1_000_000)
        let file = try scratch.file("a document.json", body)

        let (data, response) = try await URLSessionTaskOperation.data(for: file).value(on: queue)
        #expect(data == body)
        #expect(response.url == file)
        #expect(response.mimeType == "application/json")
        #expect(response.expectedContentLength == 1_000_000)

        let copy = try await URLSessionTaskOperation.download(for: URLRequest(url: file)).value(on: queue)
        #expect(copy.url != file)
        #expect(try Data(contentsOf: copy.url) == body)
        #expect(copy.response.mimeType == "application/json")
        try FileManager.default.removeItem(at: copy.url)
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test func missingFile_isNamed() async throws {
        let scratch = try Scratch()
        let file = scratch.directory.appendingPathComponent("missing.txt")
        for operation in [URLSessionTaskOperation.data(for: file), URLSessionTaskOperation.data(for: URLRequest(url: file))] {
            let error = try await operation.urlError(on: queue)
            #expect(error.code == .fileDoesNotExist)
            #expect(error.failingURL == file)
            #expect(error.localizedDescription == "Cannot open \(file.path): No such file or directory")
        }
        #expect(try await URLSessionTaskOperation.download(for: file).urlError(on: queue).code == .fileDoesNotExist)
    }

    @Test func directory_isNoFile() async throws {
        let scratch = try Scratch()
        #expect(try await URLSessionTaskOperation.data(for: scratch.directory).urlError(on: queue).code == .fileIsDirectory)
    }

    @Test func whatIsNoRegularFile_isNotWaitedFor() async throws {
        let scratch = try Scratch()
        let pipe = scratch.directory.appendingPathComponent("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        for url in [pipe, URL(fileURLWithPath: "/dev/zero")] {
            #expect(try await URLSessionTaskOperation.data(for: url).urlError(on: queue).code == .cannotOpenFile)
        }
    }

    @Test func pathWithNUL_namesNoFile() async throws {
        let url = try #require(URL(string: "file:///etc/passwd%00.txt"))
        #expect(try await URLSessionTaskOperation.data(for: url).urlError(on: queue).code == .fileDoesNotExist)
    }

    @Test func manyFiles_areLoadedAtOnce() async throws {
        let scratch = try Scratch()
        let file = try scratch.file("content", bytes(1_000))
        let operations = (0..<200).map { _ in URLSessionTaskOperation.data(for: file) }
        queue.addOperations(operations, waitUntilFinished: false)
        for operation in operations {
            await operation.ended()
            #expect(operation.outcome?.value?.data == bytes(1_000))
        }
    }

    @Test func emptyFile_isEmptyData() async throws {
        let scratch = try Scratch()
        let fractions = Log<Double>()
        let (data, response) = try await URLSessionTaskOperation.data(for: try scratch.file("empty", Data()))
            .didChangeProgress { fractions.append($0.fractionCompleted) }
            .value(on: queue)
        #expect(data.isEmpty)
        #expect(response.mimeType == "application/octet-stream")
        await callbacksDelivered()
        #expect(fractions.entries.last == 1)
    }

    @Test func progress_rises_toOne() async throws {
        let scratch = try Scratch()
        let fractions = Log<Double>()
        _ = try await URLSessionTaskOperation.data(for: try scratch.file("large", bytes(3_000_000)))
            .didChangeProgress { fractions.append($0.fractionCompleted) }
            .value(on: queue)
        await callbacksDelivered()
        #expect(fractions.entries == fractions.entries.sorted())
        #expect(fractions.entries.last == 1)
    }

    /// The first attempt ends before its body begins, or in it; the operation's own listeners hear of the next one.
    @Test(arguments: [false, true]) func progressOfAnotherAttempt_isToldOnce_toHandlersAndObservers(isBefore: Bool) async throws {
        let scratch = try Scratch()
        let file = scratch.directory.appendingPathComponent("later")
        let (fractions, heard, asked) = (Log<Double>(), Log<Double>(), Log<Int>())
        let operation = URLSessionTaskOperation.data(for: file)
            .didChangeProgress { fractions.append($0.fractionCompleted) }
            .retryOnFailure { retries, _, retry in
                _ = try? scratch.file("later", bytes(100))
                retry(retries == 0)
            }
        operation.addObserver(BlockObserver(progressHandler: { heard.append($1.fraction) }))
        if isBefore {
            operation.conditions(
                BlockCondition { completion in
                    asked.append(1)
                    completion(asked.count > 1 ? .success : .failure(AOperationError(Failed(text: "not yet"))))
                })
        }
        _ = try await operation.value(on: queue)
        await callbacksDelivered()
        #expect(heard.entries.last == 1)
        #expect(fractions.entries.filter { $0 == 1 }.count == 1)
    }

    @Test(arguments: ["file://otherhost/etc/hostname", "file://127.0.0.1/etc/hostname"])
    func fileOfAnotherHost_isNotReadHere(text: String) async throws {
        let url = try #require(URL(string: text))
        for operation in [URLSessionTaskOperation.data(for: url), URLSessionTaskOperation.data(for: URLRequest(url: url))] {
            let error = try await operation.urlError(on: queue)
            #expect(error.code == .unsupportedURL)
            #expect(error.failingURL == url)
            let host = try #require(url.host)
            #expect(
                error.localizedDescription
                    == "\(text) is a file of the host \(host): only files of this machine are read, file:///etc/hostname.")
        }
    }

    @Test func fileOfThisHost_isRead_howeverItIsSaid() async throws {
        let scratch = try Scratch()
        let path = try scratch.file("content", bytes(10)).path
        for text in ["file://\(path)", "file://localhost\(path)", "file://LOCALHOST\(path)", "FILE://\(path)"] {
            let url = try #require(URL(string: text))
            #expect(try await URLSessionTaskOperation.data(for: url).value(on: queue).data == bytes(10))
        }
    }

    @Test func resultWithLabels_isDeliveredToAReceiverThatNamesNone() async throws {
        final class Size: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
            var receivedValue: Result<(Data, URLResponse), AOperationError>?
            override func execute() {
                switch receivedValue {
                case .success((let body, _))?: finish(with: .success(body.count))
                case .failure(let error)?: finish(with: .failure(error))
                case nil: finish(with: .failure(AOperationError(AOperationError.ReceivedValueIsNil(self))))
                }
            }
        }
        let scratch = try Scratch()
        let file = try scratch.file("content", bytes(1_000))
        #expect(try await URLSessionTaskOperation.data(for: file).deliver(to: Size()).value(on: queue) == 1_000)
        let failed = URLSessionTaskOperation.data(for: scratch.directory).deliver(to: Size())
        #expect(await failed.result(on: queue).error?.publishedError is URLError)
    }

    @Test func hugeFile_isLetGoWhenCancelled() async throws {
        let scratch = try Scratch()
        let file = try scratch.file("huge", Data())
        // Sparse: it is long, and takes no room.
        #expect(truncate(file.path, 1 << 40) == 0)
        let operation = URLSessionTaskOperation.data(for: file)
        // At once: everything that is read until then stays in memory.
        operation.didChangeProgress { [weak operation] progress in
            if progress.completedUnitCount > 0 { operation?.cancel() }
        }
        .add(to: queue)
        await operation.ended()
        #expect(operation.outcome?.isCancelled == true)
    }
}
