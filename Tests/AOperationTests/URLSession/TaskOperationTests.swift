import Foundation
import Testing

@testable import AOperation

/// Operations around a task that somebody else made.
@Suite(.timeLimit(Load.patience))
struct TaskOperationTests {
    let queue = AOperationQueue()
    let own = URLSessionTaskOperation.Session()
    let foreign = URLSession(configuration: .ephemeral)

    /// Which session a task is of, and whether it has a completion handler.
    enum Origin: CaseIterable {
        case own, ownWithHandler, foreign, foreignWithHandler
    }

    private func task(_ origin: Origin, _ url: URL, _ handler: @escaping @Sendable (Data?) -> Void = { _ in }) -> URLSessionTask {
        switch origin {
        case .own: own.urlSession.dataTask(with: url)
        case .ownWithHandler: own.urlSession.dataTask(with: url) { data, _, _ in handler(data) }
        case .foreign: foreign.downloadTask(with: url)
        case .foreignWithHandler: foreign.dataTask(with: url) { data, _, _ in handler(data) }
        }
    }

    @Test(arguments: Origin.allCases)
    func operation_resumesTheTask_andEndsAfterIt(_ origin: Origin) async throws {
        let server = try TestServer("/") { $0.respond(200, text: "ok") }
        defer { server.stop() }
        let log = Log<String>()
        let task = task(origin, server.url("/")) { log.append(String(decoding: $0 ?? Data(), as: UTF8.self)) }
        let login = URLSessionTaskOperation(task: task)
        let persist = Step("Persist") { log.append("after") }
        persist.addDependency(login)
        #expect(task.state == .suspended)
        let group = GroupOperation(persist, login)
        let result = await group.result(on: queue)
        #expect(throws: Never.self) { try result.get() }
        switch origin {
        case .own, .foreign: #expect(log.entries == ["after"])
        case .ownWithHandler, .foreignWithHandler: #expect(log.entries == ["ok", "after"])
        }
        #expect(own.delegate.count == 0)
    }

    @Test(arguments: Origin.allCases)
    func failureOfTheTask_isTheOperations(_ origin: Origin) async throws {
        let port = try DeadPort()
        defer { port.close() }
        let url = port.url
        let error = try await URLSessionTaskOperation(task: task(origin, url)).urlError(on: queue)
        #expect(error.code == .cannotConnectToHost)
        #expect(error.failingURL == url)
    }

    @Test(arguments: Origin.allCases)
    func cancellation_cancelsTheTask(_ origin: Origin) async throws {
        let (asked, closed, cancelled) = (Signal(), Signal(), Signal())
        let server = try TestServer("/") { exchange in
            asked.fire()
            exchange.waitForClose()
            closed.fire()
        }
        defer { server.stop() }
        let task = task(origin, server.url("/"))
        let operation = URLSessionTaskOperation(task: task)
        operation.addObserver(CancelledObserver { _ in cancelled.fire() })
        operation.add(to: queue)
        await asked.wait()
        operation.cancel()
        await operation.ended()
        await cancelled.wait()
        await closed.wait()
        #expect(operation.outcome?.isCancelled == true)
        #expect(task.state != .running)
    }

    @Test func cancellation_beforeTheStart_cancelsTheTask() async throws {
        let server = try TestServer("/") { $0.respond(200) }
        defer { server.stop() }
        let task = task(.own, server.url("/"))
        let operation = URLSessionTaskOperation(task: task)
        operation.cancel()
        operation.add(to: queue)
        await operation.ended()
        await until { task.state == .completed }
        #expect(server.connectionsAccepted == 0)
    }

    @Test func taskCancelledByOthers_isAFailure() async throws {
        let asked = Signal()
        let server = try TestServer("/") { exchange in
            asked.fire()
            exchange.waitForClose()
        }
        defer { server.stop() }
        let task = task(.own, server.url("/"))
        let operation = URLSessionTaskOperation(task: task).add(to: queue)
        await asked.wait()
        task.cancel()
        #expect(try await operation.urlError(on: queue).code == .cancelled)
    }

    @Test func taskThatHasEnded_endsTheOperation() async throws {
        let server = try TestServer("/") { $0.respond(200) }
        defer { server.stop() }
        let task = task(.foreign, server.url("/"))
        task.resume()
        await until { task.state == .completed }
        _ = try await URLSessionTaskOperation(task: task).value(on: queue)
    }

    @Test(arguments: ["/redirect", "/secret"])
    func redirectsAndDemandsForCredentials_areNoFailure(_ path: String) async throws {
        let server = try TestServer([
            "/redirect": { $0.respond(302, headers: ["Location": "/to"]) },
            "/to": { $0.respond(200) },
            "/secret": { $0.respond(401, headers: ["WWW-Authenticate": "Basic realm=\"x\""]) },
        ])
        defer { server.stop() }
        _ = try await URLSessionTaskOperation(task: task(.own, server.url(path))).value(on: queue)
    }

    @Test func operationThatNeverRuns_leavesTheTask_andIsReleased() throws {
        let server = try TestServer("/") { $0.respond(200) }
        defer { server.stop() }
        let task = task(.own, server.url("/"))
        weak var operation: URLSessionTaskOperation?
        do {
            let made = URLSessionTaskOperation(task: task)
            operation = made
        }
        #expect(operation == nil)
        #expect(task.state == .suspended)
        task.cancel()
    }
}
