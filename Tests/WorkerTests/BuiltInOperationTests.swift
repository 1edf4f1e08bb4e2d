import AOperation
import Foundation
import LocalHTTPServer
import Synchronization
import Testing
import Wire

@testable import Worker

@Suite(.timeLimit(.minutes(2))) struct BuiltInOperationTests {
    let queue = AOperationQueue()

    @Test func noop_givesBackWhatItReceived() async {
        let operation = NoopOperation(.init())
        operation.receivedValue = .success(.text("x"))
        #expect(await queue.end(of: operation).text == "x")
    }

    @Test func delay_canBeCancelled_andNeedsATime() async {
        let operation = DelayOperation(.init(seconds: 1000))
        async let ended = queue.end(of: operation)
        operation.cancel()
        #expect(await ended.isCancelled)
        #expect(await queue.end(of: DelayOperation(.init(seconds: -1))).fault?.code == .parameters)
        #expect(await queue.end(of: DelayOperation(.init(seconds: 0.01))).fault == nil)
    }

    @Test func files_areWrittenAndRead() async throws {
        let directory = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let write = WriteFileOperation(.init(path: "\(directory)/a"))
        write.receivedValue = .success(.text("hällo"))
        guard case .success(.void) = await queue.end(of: write) else { return #expect(Bool(false)) }
        guard case .success(let value) = await queue.end(of: ReadFileOperation(.init(path: "\(directory)/a"))) else {
            return #expect(Bool(false))
        }
        #expect(value == .text("hällo"))
        let missing = await queue.end(of: ReadFileOperation(.init(path: "\(directory)/b"))).fault?.message
        #expect(missing == "cannot read \(directory)/b: No such file or directory")
        #expect(await queue.end(of: ReadFileOperation(.init(path: "\(directory)/a", maxOutput: 3))).fault?.code == .limit)
        let refused = WriteFileOperation(.init(path: "\(directory)/no/a"))
        refused.receivedValue = .success(.text("x"))
        #expect(await queue.end(of: refused).fault?.message.hasPrefix("cannot write \(directory)/no/a: ") == true)
    }

    @Test func writeFile_keepsTheRightsOfWhatWasThere_andALinkToIt() async throws {
        let directory = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let place = try LinkedFile(in: directory)
        let write = WriteFileOperation(.init(path: place.link))
        write.receivedValue = .success(.text("new"))
        guard case .success(.void) = await queue.end(of: write) else { return #expect(Bool(false)) }
        try place.expect("new")
        mkfifo("\(directory)/pipe", 0o600)
        let refused = WriteFileOperation(.init(path: "\(directory)/pipe"))
        refused.receivedValue = .success(.text("x"))
        #expect(await queue.end(of: refused).fault?.message == "cannot write \(directory)/pipe: it is no regular file")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == ["link", "pipe", "secret"])
    }

    @Test func http_givesTheBody_andNamesABadStatus() async throws {
        let server = try LocalHTTPServer { request in
            request.hasPrefix("GET /ok")
                ? "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
                : "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        }
        #expect(await queue.end(of: HTTPOperation(.init(url: "\(server.address)/ok"))).text == "hello")
        let fault = await queue.end(of: HTTPOperation(.init(url: "\(server.address)/gone?secret=1"))).fault
        #expect(fault?.message.hasPrefix("GET \(server.address)/gone was answered with status 404") == true)
        #expect(await queue.end(of: HTTPOperation(.init(url: "ftp://x"))).fault?.code == .parameters)
    }

    @Test func whatIsMeantForAServer_isNotSentToTheOneThatItRedirectsTo() async throws {
        let other = try LocalHTTPServer { LocalHTTPServer.answer(200, $0) }
        let redirect = "HTTP/1.1 302 Found\r\nLocation: \(other.address)/there\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let server = try LocalHTTPServer { _ in redirect }
        let headers = ["Authorization": "Bearer sesame", "Cookie": "sesame", "X-Other": "kept"]
        let arrived = await queue.end(of: HTTPOperation(.init(url: "\(server.address)/", headers: headers))).text
        #expect(arrived?.contains("GET /there") == true && arrived?.contains("kept") == true)
        #expect(arrived?.contains("sesame") == false)
    }

    @Test(arguments: [
        "http://me:sesame@host:99999/place?token=sesame#sesame", "http://me:ses/ame@host:99999/place", "http://me:s#esame@host:99999/place",
        "me:sesame@host:99999/place",
    ])
    func urlThatIsRefused_isToldWithoutUserAndQuery(_ url: String) async {
        let message = await queue.end(of: HTTPOperation(.init(url: url))).fault?.message ?? ""
        #expect(message.contains("host:99999/place") && !message.contains("me:") && !message.contains("sesame"), "\(message)")
    }

    @Test func http_saysNothingOfAURLThatHasASecret() async throws {
        let runner = try CommandRunner()
        let server = try LocalHTTPServer { _ in "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" }
        for (url, expected) in [
            ("\(server.address)/hooks/t0k3n", "GET of a URL that has a secret was answered with status 404"),
            ("http://t0k3n.invalid/", "GET of a URL that has a secret failed: NSURLErrorDomain "),
            ("ftp://t0k3n", "`url`, which has a secret: it must begin with http:// or https:// and name a host"),
        ] {
            let operation = HTTPOperation(.init(url: url))
            var context = runner.context()
            context.redaction.add("t0k3n")
            operation.host(in: context)
            let message = await queue.end(of: operation).fault?.message ?? ""
            #expect(message.hasPrefix(expected) && !message.contains("t0k3n"), "\(message)")
        }
    }

    @Test func http_canBeCancelledWhileTheServerIsSilent() async throws {
        let server = try LocalHTTPServer { _ in nil }
        let operation = HTTPOperation(.init(url: "\(server.address)/"))
        operation.grace = .seconds(1000)
        async let ended = queue.end(of: operation)
        let asked = try await eventually { server.requests.withLock { $0 } == 1 }
        #expect(asked)
        operation.cancel()
        #expect(await ended.isCancelled)
    }

    @Test func cookiesOfOneRequest_areNotSentWithAnother() async throws {
        let server = try LocalHTTPServer { request in
            let answer = request.lowercased().contains("cookie") ? "remembered" : "unknown"
            return
                "HTTP/1.1 200 OK\r\nSet-Cookie: sid=1; Path=/\r\nContent-Length: \(answer.utf8.count)\r\nConnection: close\r\n\r\n\(answer)"
        }
        for _ in 0..<2 { #expect(await queue.end(of: HTTPOperation(.init(url: "\(server.address)/"))).text == "unknown") }
        let directory = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        for _ in 0..<2 {
            let download = DownloadOperation(.init(url: "\(server.address)/", to: "\(directory)/a"))
            #expect(await queue.end(of: download).fault == nil)
            #expect(try String(contentsOfFile: "\(directory)/a", encoding: .utf8) == "unknown")
        }
    }

    @Test func answersThatAreTooLarge_failAsTheyCome() async throws {
        let server = try LocalHTTPServer { _ in
            "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\nConnection: close\r\n\r\n" + String(repeating: "a", count: 3_000_000)
        }
        let whole = await queue.end(of: HTTPOperation(.init(url: "\(server.address)/", maxOutput: 3_000_000)))
        #expect(whole.text?.utf8.count == 3_000_000)
        let fault = await queue.end(of: HTTPOperation(.init(url: "\(server.address)/a?secret", maxOutput: 2_999_999))).fault
        #expect(fault?.code == .limit)
        #expect(fault?.message.contains("GET \(server.address)/a is larger than maxOutput") == true, "\(String(describing: fault))")
        #expect(await queue.end(of: HTTPOperation(.init(url: "\(server.address)/", maxOutput: -1))).fault?.code == .parameters)
        #expect(await queue.end(of: ReadFileOperation(.init(path: "/etc/hostname", maxOutput: .max))).fault?.code == .parameters)
    }

    @Test func registry_refusesTwoOfOneName() {
        let error = #expect(throws: OperationRegistry.Refused.self) { try OperationRegistry([NoopOperation.self], withShell: false) }
        #expect(error?.description == "NoopOperation and NoopOperation are both called `noop`: give one of them another operationName")
    }
}
