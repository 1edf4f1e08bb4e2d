import AOperation
import Cluster
import Foundation
import Synchronization
import Testing
import TrialOperations
import Wire

extension SystemTests {
    /// Graphs whose closures and conditions exist only in the process that submits them.
    @Suite struct HostedCode {
        /// A value that cannot leave the process.
        struct Raw: Sendable {
            let text: String
        }

        /// Fails as often as it is told to.
        final class Flaky: ResultableOperation<String>, RetryableOperation, @unchecked Sendable {
            let left: Counter
            init(_ left: Counter) {
                self.left = left
                super.init()
            }
            func new() -> Flaky { Flaky(left) }
            override func execute() {
                let fails = left.take()
                finish(with: fails ? .failure(AOperationError(TrialError(text: "flaky"))) : .success("third time"))
            }
        }

        final class Counter: Sendable {
            private let count: Mutex<Int>
            init(_ count: Int) { self.count = Mutex(count) }
            func take() -> Bool {
                count.withLock { count in
                    count -= 1
                    return count >= 0
                }
            }
        }

        /// A condition that only this process has.
        struct Allowed: AOperationCondition {
            let isAllowed: Bool
            func evaluateForOperation(
                _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
            ) {
                completion(isAllowed ? .success : .failure(AOperationError(TrialError(text: "not allowed"))))
            }
        }

        /// Closures between remote operations, with their listeners.
        private struct Mixture {
            let log = CallbackLog()
            let root: GroupOperation
            let shout = Shout()

            init(_ directory: String) {
                func emit(_ name: String, failures: Int? = nil) -> Emit { Emit(name, log: "\(directory)/\(name)", failures: failures) }
                let (a, b, bad) = (emit("a"), emit("b"), emit("bad", failures: 9))
                let map = MapOperationBlock<String, String> { received, finish in finish((received ?? .success("")).map { "<\($0)>" }) }
                let raw = MapOperationBlock<String, Raw> { received, finish in
                    finish((received ?? .success("")).map { Raw(text: $0) })
                }
                let pair = MapOperationBlock<(String, Raw), String> { received, finish in
                    finish((received ?? .failure(AOperationError(TrialError(text: "nothing")))).map { "\($0)+\($1.text)" })
                }
                a.deliver(to: map).deliver(to: shout)
                b.deliver(to: raw)
                deliver(map, raw, to: pair)
                let afterBad = MapOperationBlock<String, String> { received, finish in
                    finish(received ?? .success("nothing"))
                }
                bad.deliver(to: afterBad)
                let fails = MapOperationBlock<Void, String> { _, finish in
                    finish(.failure(AOperationError(TrialError(text: "here"))))
                }
                let (onFailure, flaky) = (Shout(), Flaky(Counter(2)).retry(RetryPolicy(attempts: 3)))
                fails.deliver(to: onFailure)
                let block = AOperationBlock { finish in finish() }.exclusive("key")
                let (allowed, denied) = (
                    emit("allowed").conditions(Allowed(isAllowed: true)), emit("denied").conditions(Allowed(isAllowed: false))
                )
                let deniedBlock = AOperationBlock { finish in finish() }.conditions(NegatedCondition(Allowed(isAllowed: true)))
                root = GroupOperation(
                    GroupOperation(a, b, map, raw, shout, pair), OrderedGroupOperation(flaky, block),
                    GroupOperation(bad, afterBad, fails, onFailure, allowed, denied, deniedBlock))
                for (name, operation) in ["a": a, "b": b, "bad": bad, "allowed": allowed, "denied": denied] {
                    log.listen(to: operation, as: name)
                }
                for (name, operation) in ["map": map, "afterBad": afterBad] { log.listen(to: operation, as: name) }
                for (name, operation) in ["shout": shout, "onFailure": onFailure] { log.listen(to: operation, as: name) }
                for (name, operation) in ["block": block, "deniedBlock": deniedBlock] { log.listen(to: operation, as: name) }
                log.listen(to: raw, as: "raw")
                log.listen(to: pair, as: "pair")
                log.listen(to: fails, as: "fails")
                log.listen(to: flaky, as: "flaky")
                log.listen(to: root, as: "root")
            }

            func run(on queue: AOperationQueue) async throws {
                queue.callbackQueue = DispatchQueue(label: "callbacks")
                _ = await root.result(on: queue)
                try await eventually("all listeners have been told") {
                    log.byName.values.allSatisfy { $0.last?.hasPrefix("didFinish") == true }
                }
            }
        }

        @Test func closuresInTheMiddle_endAlikeOnBothQueues_andTellTheSame() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let folders = try harness.folders("here", "there")
                let (here, there) = (Mixture(folders[0]), Mixture(folders[1]))
                try await here.run(on: AOperationQueue())
                let cluster = try await harness.trialCluster()
                try await there.run(on: cluster)
                for name in here.log.byName.keys.sorted() {
                    #expect(there.log.byName[name] == here.log.byName[name], "\(name)")
                }
                #expect(here.log.byName["shout"]?.last == "didFinish <A>")
                #expect(there.log.byName["pair"]?.last == "didFinish <a>+b")
                #expect(there.log.byName["flaky"] == ["started", "didStart", "finished []", "didFinish third time"])
                #expect(there.log.byName["fails"]?.last == "didFinish trial: here (execution, fails)")
                #expect(there.log.byName["onFailure"]?.last == "didFinish trial: here (execution, fails)")
                #expect(there.log.byName["denied"]?.last == "didFinish trial: not allowed (condition, Allowed)")
                #expect(there.log.byName["deniedBlock"]?.last?.contains("(condition, ") == true)
                // What fails here is the very error, registered or not.
                #expect(there.root.publishedErrors.contains { $0.publishedError is TrialError })
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                #expect(shown.count { $0["hosted"].bool == true } == 8)
                #expect(shown.first { $0["path"].string?.hasSuffix("flaky") == true }?["attempts"].number == 3)
                let workers = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)["workers"].elements
                #expect(workers.count == 1)
                await cluster.close()
            }
        }

        @Test func coordinatorKilled_whileAHostedOperationRuns_itRunsOnce() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let runs = Mutex(0)
                let go = DispatchSemaphore(value: 0)
                let map = MapOperationBlock<String, String> { received, finish in
                    runs.withLock { $0 += 1 }
                    DispatchQueue.global().async {
                        go.wait()
                        finish(received ?? .success("nothing"))
                    }
                }
                let (emit, shout) = (Emit("a"), Shout())
                emit.deliver(to: map.exclusive("key")).deliver(to: shout)
                let log = CallbackLog()
                log.listen(to: map, as: "map")
                log.listen(to: shout, as: "shout")
                shout.add(to: cluster)
                try await eventually("it runs") { runs.withLock { $0 } == 1 }
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try await harness.startCoordinator()
                _ = try await harness.waitForExecutors(1)
                go.signal()
                await shout.over()
                #expect(shout.outcome?.value == "A", "\(shout.publishedErrors)")
                try await eventually("didFinish is told") { log.byName.values.allSatisfy { $0.last?.hasPrefix("didFinish") == true } }
                #expect(log.byName["map"] == ["started", "didStart", "finished []", "didFinish a"])
                #expect(runs.withLock { $0 } == 1)
                await cluster.close()
            }
        }

        @Test func endsOfHostedOperations_areKept_whileTheCoordinatorIsAway() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let runs = Mutex(0)
                let done = Mutex(false)
                let go = DispatchSemaphore(value: 0)
                // Too large for a message.
                let map = MapOperationBlock<Void, String> { _, finish in
                    runs.withLock { $0 += 1 }
                    DispatchQueue.global().async {
                        go.wait()
                        finish(.success(String(repeating: "a", count: 300_000)))
                        done.withLock { $0 = true }
                    }
                }
                let shout = Shout()
                map.deliver(to: shout)
                shout.add(to: cluster)
                try await eventually("it runs") { runs.withLock { $0 } == 1 }
                try await first.send(SIGKILL)
                _ = try await first.finish()
                go.signal()
                try await eventually("it has ended, and nobody knows") { done.withLock { $0 } }
                _ = try await harness.startCoordinator()
                await shout.over()
                #expect(shout.outcome?.value?.utf8.count == 300_000)
                #expect(runs.withLock { $0 } == 1)
                await cluster.close()
            }
        }

        @Test func submitterKilled_whatItHostedFails_locksGoOn_andTheRestEnds() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let submitter = harness.start(BuiltProducts.trialSubmitter, [harness.directory])
                try await eventually("the hosted operation runs") { harness.lines(of: "log") == ["+runs"] }
                let cluster = try await harness.connect()
                let next = Emit("next").exclusive("key")
                next.add(to: cluster)
                try await eventually("the key is wanted") {
                    let locks = try JSON(parsing: try await harness.aop("locks", "show", "key", "-o", "json").text)["locks"].elements
                    return locks.first?["waiting"].elements.count == 1
                }
                try await submitter.send(SIGKILL)
                _ = try await submitter.finish()
                func shown(_ path: String) async throws -> JSON? {
                    let text = try await harness.aop("show", "key=killed", "-o", "json").text
                    return try JSON(parsing: text)["operations"].elements.first { $0["path"].string == path }
                }
                try await eventually("its connection is seen to be gone") {
                    try await shown("runs")?["waiting"]["text"].string?.contains("waits for its submitter") == true
                }
                #expect(next.outcome == nil)
                await next.over()
                #expect(next.outcome?.value == "next")
                let runs = try #require(try await shown("runs"))
                #expect(runs["state"].string == "failed")
                #expect(runs["errors"].elements.map { $0["code"].string } == ["submitterGone"])
                // What is still to come fails when its turn comes.
                #expect(try await shown("waits")?["state"].string == "blocked")
                _ = try harness.write("go", "")
                try await eventually("everything of it has ended") {
                    try await harness.aop("wait", "key=killed", "--timeout", "30s").status != 75
                }
                for (path, state) in ["first": "succeeded", "waits": "failed", "guarded": "failed", "after": "succeeded"] {
                    #expect(try await shown(path)?["state"].string == state, "\(path)")
                }
                let read = try await harness.aop("show", "key=killed").text
                #expect(read.contains("the process that submitted it is gone"), "\(read)")
                #expect(harness.lines(of: "log") == ["+runs", "+after", "-after"])
                // Another process finds out as well.
                let remote = try await cluster.connection.submission(key: "killed")
                #expect(try await remote.outcome().isSuccess == false)
                await cluster.close()
            }
        }

        @Test func submitterFrozenForTooLong_findsThatItsSessionIsOver_andMakesAnother() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let submitter = harness.start(BuiltProducts.trialSubmitter, [harness.directory])
                try await eventually("the hosted operation runs") { harness.lines(of: "log") == ["+runs"] }
                try await submitter.send(SIGSTOP)
                try await eventually("its session is over") {
                    let shown = try JSON(parsing: try await harness.aop("show", "key=killed", "-o", "json").text)["operations"].elements
                    return shown.first { $0["path"].string == "runs" }?["state"].string == "failed"
                }
                try await submitter.send(SIGCONT)
                _ = try harness.write("go", "")
                let finished = try await submitter.finish()
                #expect(finished.status == 0, "\(finished)")
                let lines = harness.lines(of: "log")
                #expect(
                    Set(lines) == ["+runs", "+after", "-after", "gone runs", "gone waits", "gone guarded", "stopped", "again"], "\(lines)")
            }
        }

        @Test func close_stopsWhatRunsHere_andTheClusterIsToldAtOnce() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let polite = Polite()
                let group = GroupOperation(polite, Emit("goes on"))
                let submission = try await cluster.submit(group)
                try await eventually("the body runs") { polite.isRunning }
                await cluster.close()
                #expect(!polite.isRunning)
                #expect((polite.publishedErrors.first?.publishedError as? ClusterError)?.code == .closed)
                let state = try await eventually("it has ended there") {
                    let shown = try JSON(parsing: try await harness.aop("show", submission.id, "-o", "json").text)["operations"].elements
                    let error = shown.first { $0["path"].string == "Polite" }?["errors"].elements.first
                    return error?["code"].string
                }
                #expect(state == "submitterGone")
            }
        }

        /// Runs until it is cancelled.
        final class Polite: AsyncOperation<Void>, @unchecked Sendable {
            private let running = Mutex(false)
            var isRunning: Bool { running.withLock { $0 } }

            override func run() async throws {
                running.withLock { $0 = true }
                defer { running.withLock { $0 = false } }
                try await Task.sleep(for: .seconds(3_600))
            }
        }

        @Test func outageThatIsTooLongForALock_stopsWhatHoldsIt_andSaysSo() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                let cluster = try await harness.connect()
                let (guarded, free) = (Polite().exclusive("key"), Polite())
                cluster.addOperations([guarded, free], waitUntilFinished: false)
                try await eventually("they run") { guarded.isRunning && free.isRunning }
                try await first.send(SIGKILL)
                _ = try await first.finish()
                try await eventually("what holds the lock is stopped") { !guarded.isRunning }
                _ = try await harness.startCoordinator()
                try await eventually("it has failed") { guarded.outcome != nil }
                let error = guarded.publishedErrors.first?.publishedError as? AOperationError.WorkerLost
                #expect(error?.reason.contains("is no RetryableOperation") == true, "\(guarded.publishedErrors)")
                #expect(free.isRunning && free.outcome == nil)
                free.cancel()
                try await eventually("the other has ended") { free.outcome?.isCancelled == true }
                #expect(try await cluster.connection.locks().isEmpty)
                await cluster.close()
            }
        }

        @Test func cancelAndTimeout_stopTheBodyHere() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let (mine, theirs, late) = (Polite(), Polite(), Polite().timeout(.milliseconds(300)))
                theirs.name = "theirs"
                let submission = try await cluster.submit(GroupOperation(mine, theirs, late))
                try await eventually("the bodies run") { mine.isRunning && theirs.isRunning }
                mine.cancel()
                #expect(mine.isCancelled)
                #expect(try await harness.aop("cancel", "\(submission.id)/theirs").status == 0)
                _ = try await submission.outcome()
                #expect(mine.outcome?.isCancelled == true && theirs.outcome?.isCancelled == true)
                #expect(late.publishedErrors.first?.publishedError is TimeoutObserver.Error, "\(late.publishedErrors)")
                #expect(!mine.isRunning && !theirs.isRunning && !late.isRunning)
                await cluster.close()
            }
        }
    }
}
