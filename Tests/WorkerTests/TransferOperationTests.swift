import AOperation
import Foundation
import LocalHTTPServer
import Synchronization
import Testing
import Wire

@testable import Worker

@Suite(.timeLimit(.minutes(2))) struct TransferOperationTests {
    let queue = AOperationQueue()

    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await body(directory)
    }

    private func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    // MARK: download

    @Test func download_putsTheAnswerIntoTheFile_andItsValueIsThePath() async throws {
        let seen = Mutex("")
        let body = String(repeating: "0123456789", count: 100_000)
        let server = try LocalHTTPServer { request in
            seen.withLock { $0 = request }
            return LocalHTTPServer.answer(200, body)
        }
        try await withDirectory { directory in
            try Data("old".utf8).write(to: URL(fileURLWithPath: "\(directory)/a"))
            let operation = DownloadOperation(.init(url: "\(server.address)/x", to: "\(directory)/a", headers: ["X-Tag": "seven"]))
            #expect(await queue.end(of: operation).text == "\(directory)/a")
            #expect(try String(contentsOfFile: "\(directory)/a", encoding: .utf8) == body)
            #expect(try names(in: directory) == ["a"])
            let status = try FileManager.default.attributesOfItem(atPath: "\(directory)/a")
            let mask = umask(0)
            umask(mask)
            #expect(status[.posixPermissions] as? Int == Int(0o666 & ~mask))
            #expect(seen.withLock { $0.hasPrefix("GET /x ") && $0.contains("X-Tag: seven") })
        }
    }

    @Test func download_keepsTheRightsOfWhatWasThere_andALinkToIt() async throws {
        let server = try LocalHTTPServer { _ in LocalHTTPServer.answer(200, "new") }
        try await withDirectory { directory in
            let place = try LinkedFile(in: directory)
            #expect(await queue.end(of: DownloadOperation(.init(url: "\(server.address)/x", to: place.link))).text == place.link)
            try place.expect("new")
        }
    }

    @Test func download_replacesNothingThatIsNoFile() async throws {
        let server = try LocalHTTPServer { _ in LocalHTTPServer.answer(200, "new") }
        try await withDirectory { directory in
            mkfifo("\(directory)/pipe", 0o600)
            for (path, reason) in [("pipe", "it is no regular file"), ("", "Is a directory")] {
                let fault = await queue.end(of: DownloadOperation(.init(url: "\(server.address)/x", to: "\(directory)/\(path)"))).fault
                #expect(fault?.message == "cannot write \(directory)/\(path): \(reason)")
            }
            let left = try names(in: directory)
            #expect(left == ["pipe"])
        }
    }

    @Test func relativePath_isBelowTheWorkersDirectory() async throws {
        let server = try LocalHTTPServer { _ in LocalHTTPServer.answer(200, "") }
        try await withDirectory { directory in
            let operation = DownloadOperation(.init(url: "\(server.address)/", to: "empty"))
            operation.host(in: try CommandRunner(workingDirectory: directory).context())
            #expect(await queue.end(of: operation).text == "\(directory)/empty")
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(directory)/empty")).isEmpty)
        }
    }

    /// A bad status, a connection that ends too early, and a URL that leads nowhere.
    @Test(arguments: [
        ("/gone", "was answered with status 404"), ("/same", "was answered with status 304"), ("/cut", "failed: "),
    ])
    func failedDownload_leavesWhatWasThere(path: String, reason: String) async throws {
        let server = try LocalHTTPServer { request in
            if request.hasPrefix("GET /cut") { return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\npart" }
            return request.hasPrefix("GET /same") ? LocalHTTPServer.answer(304, "") : LocalHTTPServer.answer(404, "no such thing")
        }
        try await withDirectory { directory in
            try Data("old".utf8).write(to: URL(fileURLWithPath: "\(directory)/a"))
            let fault = await queue.end(of: DownloadOperation(.init(url: "\(server.address)\(path)?q=1", to: "\(directory)/a"))).fault
            #expect(fault?.message.hasPrefix("GET \(server.address)\(path) \(reason)") == true, "\(fault?.message ?? "")")
            #expect(try names(in: directory) == ["a"])
            #expect(try String(contentsOfFile: "\(directory)/a", encoding: .utf8) == "old")
        }
    }

    /// Else they would be sent as more than one word, or line, of the request.
    @Test(
        arguments: [
            ("GET / HTTP/1.1\r\nX: 1", [:], "`method` is \"GET / HTTP/1.1\\r\\nX: 1\": it must be a word, e.g. PUT"),
            ("GET", ["Q\r\nR": "d"], "`headers`: \"Q\\r\\nR\" is no name of a header: it must be of letters, digits and dashes"),
            ("GET", ["Key": "secret\n"], "the header `Key` has a line break or another control character in its value; take it out"),
        ] as [(String, [String: String], String)])
    func whatWouldBreakTheRequest_isRefused(method: String, headers: [String: String], message: String) throws {
        #expect { try RequestedURL(text: "http://h.example/").request(method: method, headers: headers) } throws: {
            ($0 as? OperationFault)?.message == message
        }
    }

    @Test func placeThatCannotBeWritten_isNamed() async throws {
        let server = try LocalHTTPServer { _ in LocalHTTPServer.answer(200, "x") }
        try await withDirectory { directory in
            try FileManager.default.createDirectory(atPath: "\(directory)/folder", withIntermediateDirectories: true)
            for (target, reason) in [("\(directory)/no/a", "No such file or directory"), ("\(directory)/folder", "Is a directory")] {
                let fault = await queue.end(of: DownloadOperation(.init(url: server.address, to: target))).fault
                #expect(fault?.message == "cannot write \(target): \(reason)")
            }
            #expect(try names(in: directory) == ["folder"])
        }
    }

    @Test(arguments: [true, false]) func cancelledDownload_stops_andLeavesNothing(begins: Bool) async throws {
        let server = try LocalHTTPServer(keepingOpen: true) { _ in
            begins ? "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\npart" : nil
        }
        try await withDirectory { directory in
            let operation = DownloadOperation(.init(url: "\(server.address)/", to: "\(directory)/a"))
            operation.grace = .seconds(1000)
            async let ended = queue.end(of: operation)
            let isUnderWay = try await eventually {
                begins
                    ? (try? FileManager.default.contentsOfDirectory(atPath: directory))?.count == 1 : server.requests.withLock { $0 } == 1
            }
            #expect(isUnderWay)
            operation.cancel()
            #expect(await ended.isCancelled)
            #expect(try names(in: directory) == [])
        }
    }

    @Test func secrets_areNotTold() async throws {
        let server = try LocalHTTPServer { _ in LocalHTTPServer.answer(404, "") }
        var context = try CommandRunner().context()
        context.redaction.add("t0k3n")
        for operation: any HostedOperation in [
            DownloadOperation(.init(url: "\(server.address)/t0k3n", to: "/tmp/nowhere-\(UUID())")),
            UploadOperation(.init(url: "\(server.address)/t0k3n", from: "/etc/hostname")),
        ] {
            operation.host(in: context)
            let message = await queue.end(of: operation).fault?.message ?? ""
            #expect(message.hasSuffix(" of a URL that has a secret was answered with status 404 (Not Found)"), "\(message)")
        }
        let kept = DownloadOperation(.init(url: server.address, to: "/tmp/t0k3n"))
        kept.host(in: context)
        #expect(
            await queue.end(of: kept).fault?.message
                == "`to` has a secret, and the path is the operation's value, which is kept: name a file without one")
    }

    // MARK: upload

    @Test(arguments: [(nil, "POST"), ("put", "PUT")]) func upload_sendsTheFile_andItsValueIsTheAnswer(
        method: String?, sent: String
    ) async throws {
        let seen = Mutex("")
        let server = try LocalHTTPServer { request in
            seen.withLock { $0 = request }
            return LocalHTTPServer.answer(201, "taken")
        }
        try await withDirectory { directory in
            let content = String(repeating: "line\n", count: 100_000)
            try Data(content.utf8).write(to: URL(fileURLWithPath: "\(directory)/a"))
            let operation = UploadOperation(.init(url: "\(server.address)/in", from: "a", method: method, headers: ["X-Tag": "seven"]))
            operation.host(in: try CommandRunner(workingDirectory: directory).context())
            #expect(await queue.end(of: operation).text == "taken")
            #expect(seen.withLock { $0.hasPrefix("\(sent) /in ") && $0.contains("X-Tag: seven") && $0.hasSuffix("\r\n\r\n\(content)") })
        }
    }

    @Test func uploadThatIsRefused_orHasNoFile_saysSo() async throws {
        let server = try LocalHTTPServer { _ in LocalHTTPServer.answer(403, "") }
        let url = "\(server.address)/in?q=1"
        for (parameters, expected) in [
            (
                UploadOperation.Parameters(url: url, from: "/etc/hostname"),
                "POST \(server.address)/in was answered with status 403 (Forbidden)"
            ),
            (.init(url: url, from: "/nowhere/a"), "cannot read /nowhere/a: No such file or directory"),
            (.init(url: url, from: "/tmp"), "cannot read /tmp: it is a directory"),
            (.init(url: url, from: "/dev/null"), "cannot read /dev/null: it is no regular file"),
            (
                .init(url: url, from: "/etc/hostname", method: "get"),
                "`method` is GET, which sends nothing; write POST or PUT, or use `http`"
            ),
            (
                .init(url: "file:///x", from: "/etc/hostname"),
                "`url` is \"file:///x\": it must begin with http:// or https:// and name a host"
            ),
        ] {
            #expect(await queue.end(of: UploadOperation(parameters)).fault?.message == expected)
        }
        #expect(server.requests.withLock { $0 } == 1)
    }

    @Test func upload_canBeCancelledWhileTheServerIsSilent() async throws {
        let server = try LocalHTTPServer { _ in nil }
        let operation = UploadOperation(.init(url: "\(server.address)/", from: "/etc/hostname"))
        operation.grace = .seconds(1000)
        async let ended = queue.end(of: operation)
        let asked = try await eventually { server.requests.withLock { $0 } == 1 }
        #expect(asked)
        operation.cancel()
        #expect(await ended.isCancelled)
    }
}
