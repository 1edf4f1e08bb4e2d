import AOperation
import Cluster
import Foundation
import Synchronization
import Testing
import TrialOperations
import Wire

extension SystemTests {
    /// `willFinish` and `retryOnFailure` of graphs that run on a cluster.
    @Suite struct Conclusions {
        /// Operations of both places with both kinds of closures, and their listeners.
        private struct Mixture {
            let log = CallbackLog()
            let root: GroupOperation

            init(_ directory: String) {
                let log = log
                func emit(_ name: String, failures: Int? = nil) -> Emit { Emit(name, log: "\(directory)/\(name)", failures: failures) }
                let (a, bad, tried, never, large) = (
                    emit("a"), emit("bad", failures: 9), emit("tried", failures: 2), emit("never", failures: 9),
                    Emit(.init(text: "large", count: 60_000))
                )
                let (denied, upper) = (emit("denied").conditions(HostedCode.Allowed(isAllowed: false)), Shout())
                let flaky = HostedCode.Flaky(HostedCode.Counter(1))
                let block = MapOperationBlock<Void, String> { _, finish in finish(.success("block")) }
                let (x, y) = (emit("x"), emit("y", failures: 9))
                let inner = GroupOperation(x, y)
                let again: @Sendable (AOperation) -> Void = { operation in
                    operation.retryOnFailure { retries, error, retry in
                        log.note(operation.name ?? "", "retry \(retries) \(CallbackLog.text(error))")
                        DispatchQueue.global().async { retry(retries < 2) }
                    }
                }
                a.deliver(to: upper)
                root = GroupOperation(a, bad, tried, never, large, denied, upper, flaky, block, inner)
                let all = ["a": a, "bad": bad, "tried": tried, "never": never, "large": large, "denied": denied]
                for (name, operation) in all { Self.listen(log, operation, name) }
                Self.listen(log, upper, "upper")
                Self.listen(log, flaky, "flaky")
                Self.listen(log, block, "block")
                Self.listen(log, inner, "inner")
                Self.listen(log, root, "root")
                for operation in [tried, never, denied] { again(operation) }
                again(flaky)
                x.name = "x"
                y.name = "y"
            }

            private static func listen<Output>(_ log: CallbackLog, _ operation: ResultableOperation<Output>, _ name: String) {
                log.listen(to: operation, as: name)
                operation.willFinish { result, finish in
                    switch result {
                    case .success(let value): log.note(name, "willFinish \("\(value)".prefix(20))")
                    case .failure(let error): log.note(name, "willFinish \(CallbackLog.text(error))")
                    }
                    DispatchQueue.global().async {
                        log.note(name, "letGo")
                        finish()
                    }
                }
            }

            func run(on queue: AOperationQueue) async throws {
                queue.callbackQueue = DispatchQueue(label: "callbacks")
                _ = await root.result(on: queue)
                try await eventually("all listeners have been told") {
                    log.byName.values.allSatisfy { $0.last?.hasPrefix("didFinish") == true }
                }
            }
        }

        @Test func bothClosures_areCalledHere_asOnAQueue_andInTheSameOrder() async throws {
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
                #expect(
                    there.log.byName["tried"] == [
                        "started", "didStart", "retry 0 trial: tried (execution, tried)", "retry 1 trial: tried (execution, tried)",
                        "willFinish tried", "letGo", "finished []", "didFinish tried",
                    ])
                #expect(there.log.byName["denied"]?.contains { $0.hasPrefix("willFinish") } == false)
                #expect(there.log.byName["inner"]?.contains("willFinish trial: y (execution, y)") == true)
                await cluster.close()
            }
        }

        /// Gates, and conditions that are made of others.
        private struct Guarded {
            let log = CallbackLog()
            let root: GroupOperation

            init() {
                func allowed(_ isAllowed: Bool) -> HostedCode.Allowed { HostedCode.Allowed(isAllowed: isAllowed) }
                func emit(_ name: String, _ conditions: any AOperationCondition...) -> Emit {
                    let emit = Emit(name).conditions(conditions)
                    emit.name = name
                    return emit
                }
                let bad = Emit("bad", log: nil, failures: 9)
                let afterBad = emit("afterBad", OrCondition(NoFailedDependencies(), allowed(false)))
                let afterBadAnyway = emit("anyway", OrCondition(NoFailedDependencies(), FileThere(path: "/")))
                afterBad.addDependency(bad)
                afterBadAnyway.addDependency(bad)
                let operations: [Emit] = [
                    bad, afterBad, afterBadAnyway, emit("both", AndCondition(allowed(true), FileThere(path: "/"))),
                    emit("neither", AndCondition(allowed(false), FileThere(path: "/nothing-there"))),
                    emit("not", NegatedCondition(OrCondition(allowed(false), allowed(true)))),
                    emit("silent", SilentCondition(AndCondition(allowed(false)))), emit("ignored", IgnoredCondition(allowed(false))),
                    emit("notIgnored", IgnoredCondition(allowed(false)), allowed(false)),
                ]
                bad.name = "bad"
                let (open, closed, behind) = (
                    GatedOperation(operation: emit("through")) { true }, GatedOperation(operation: emit("stopped")) { false },
                    GatedOperation(operation: emit("unasked")) { fatalError("the gate is asked only when its turn has come") }
                )
                for (name, gated) in ["open": open, "closed": closed, "behind": behind] {
                    log.listen(to: gated, as: name)
                    if let emit = gated.operation as? Emit { log.listen(to: emit, as: emit.name ?? "") }
                }
                behind.conditions(allowed(false))
                for operation in operations { log.listen(to: operation, as: operation.name ?? "") }
                root = GroupOperation(operations + [open, closed, behind])
            }
        }

        @Test func gatesAndConditionsMadeOfOthers_endAlikeOnBothQueues() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let (here, there) = (Guarded(), Guarded())
                _ = await here.root.result(on: AOperationQueue())
                let cluster = try await harness.trialCluster()
                _ = await there.root.result(on: cluster)
                try await eventually("all listeners have been told") {
                    [here, there].allSatisfy { $0.log.byName.values.allSatisfy { $0.last?.hasPrefix("didFinish") == true } }
                }
                #expect(Set(there.log.byName.keys) == Set(here.log.byName.keys))
                for name in here.log.byName.keys.sorted() {
                    #expect(there.log.byName[name] == here.log.byName[name], "\(name)")
                }
                for name in ["both", "anyway", "through", "open"] {
                    #expect(there.log.byName[name]?.contains("finished []") == true, "\(name)")
                }
                #expect(there.log.byName["ignored"]?.first == "cancelled")
                #expect(there.log.byName["closed"]?.last?.contains("(condition, closed)") == true)
                await cluster.close()
            }
        }

        @Test func coordinatorKilled_whileWillFinishHolds_itIsToldOnce_andTheLocksStay() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let told = Mutex<[@Sendable () -> Void]>([])
                let log = CallbackLog()
                let emit = Emit("a").exclusive("key")
                emit.willFinish { _, finish in told.withLock { $0.append(finish) } }
                log.listen(to: emit, as: "a")
                let next = Emit("next", log: "\(harness.directory)/log").exclusive("key")
                next.addDependency(Emit("first", log: "\(harness.directory)/log"))
                _ = try await cluster.submit(emit)
                _ = try await cluster.submit(next)
                try await eventually("it is told") { told.withLock { $0.count } == 1 }
                try await eventually("the other one waits") { harness.lines(of: "log").contains("-first") }
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try await harness.startCoordinator()
                _ = try await harness.waitForExecutors(1)
                try await eventually("the key is wanted") {
                    let locks = try JSON(parsing: try await harness.aop("locks", "show", "key", "-o", "json").text)["locks"].elements
                    return locks.first?["waiting"].elements.count == 1
                }
                #expect(emit.outcome == nil && next.outcome == nil)
                for finish in told.withLock({ $0 }) { finish() }
                await emit.over()
                await next.over()
                #expect(emit.outcome?.value == "a" && next.outcome?.value == "next")
                #expect(told.withLock { $0.count } == 1)
                try await eventually("didFinish is told") { log.byName["a"]?.last == "didFinish a" }
                #expect(log.byName["a"] == ["started", "didStart", "finished []", "didFinish a"])
                await cluster.close()
            }
        }

        @Test func timeLimitAndTheEndOfTheProcess_passItOver_andARetryIsRefused() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                cluster.hostedTimeout = .milliseconds(200)
                let (held, tried) = (Emit("held"), Emit("tried", log: "\(harness.directory)/log", failures: 9))
                held.willFinish { _, _ in }
                tried.retryOnFailure { _, _, _ in }
                let group = GroupOperation(held, tried)
                group.add(to: cluster)
                await group.over()
                #expect(held.outcome?.value == "held")
                #expect(tried.publishedErrors.map(\.localizedDescription) == ["trial: tried"])
                cluster.hostedTimeout = .seconds(60)
                let last = Emit("last")
                let isTold = Mutex(false)
                last.name = "last"
                last.willFinish { _, _ in isTold.withLock { $0 = true } }
                let submission = try await cluster.submit(last)
                try await eventually("it is told") { isTold.withLock { $0 } }
                await cluster.close()
                try await eventually("it has ended there") {
                    let shown = try JSON(parsing: try await harness.aop("show", submission.id, "-o", "json").text)["operations"].elements
                    return shown.first { $0["path"].string == "last" }?["state"].string == "succeeded"
                }
            }
        }
    }
}
