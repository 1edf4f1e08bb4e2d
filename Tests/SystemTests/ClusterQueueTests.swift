import AOperation
import Cluster
import Foundation
import Synchronization
import Testing
import TrialOperations
import Wire

extension SystemTests {
    /// Graphs on a `ClusterQueue`, with a coordinator and workers that are processes.
    @Suite struct Queue {
        /// A graph with a bit of everything, and its listeners.
        private struct Nightly {
            let log = CallbackLog()
            let root: OrderedGroupOperation
            let join = Join()

            init(_ directory: String) {
                func emit(_ name: String, failures: Int? = nil) -> Emit {
                    let emit = Emit(name, log: "\(directory)/\(name)", failures: failures)
                    return emit
                }
                let (a, b, flaky) = (emit("a"), emit("b"), emit("flaky", failures: 2).retry(RetryPolicy(attempts: 3)))
                let fetch = GroupOperation(a, b, flaky)
                let (x, y, shout, bad, afterBad) = (emit("x"), emit("y"), Shout(), emit("bad", failures: 9), Shout())
                [y, x].deliver(to: join).deliver(to: shout)
                bad.deliver(to: afterBad)
                let (one, two) = (emit("one").exclusive("key"), emit("two").exclusive("key"))
                let work = GroupOperation(x, y, join, shout, bad, afterBad, one, two)
                let (all, last) = (Join(.init(separator: "/")), emit("last"))
                fetch.deliver(to: all)
                root = OrderedGroupOperation(fetch, all, work, last)
                for (name, operation) in ["a": a, "b": b, "flaky": flaky, "x": x, "y": y, "bad": bad, "one": one, "two": two, "last": last]
                {
                    log.listen(to: operation, as: name)
                }
                for (name, operation) in ["shout": shout, "afterBad": afterBad] { log.listen(to: operation, as: name) }
                for (name, operation) in ["join": join, "all": all] { log.listen(to: operation, as: name) }
                for (name, group) in ["fetch": fetch, "work": work, "root": root] { log.listen(to: group, as: name) }
            }

            func run(on queue: AOperationQueue) async throws {
                queue.callbackQueue = DispatchQueue(label: "callbacks")
                _ = await root.result(on: queue)
                try await eventually("all listeners have been told") {
                    log.byName.values.allSatisfy { $0.last?.hasPrefix("didFinish") == true }
                }
            }
        }

        @Test func sameGraph_onBothQueues_endsAlike_andTellsTheSame() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let folders = try harness.folders("here", "there")
                let (here, there) = (Nightly(folders[0]), Nightly(folders[1]))
                try await here.run(on: AOperationQueue())
                let cluster = try await harness.trialCluster()
                try await there.run(on: cluster)
                #expect(there.log.byName == here.log.byName)
                #expect(here.log.byName["join"]?.last == "didFinish y+x")
                #expect(here.log.byName["all"]?.last == "didFinish a/b/flaky")
                #expect(here.log.byName["afterBad"]?.last == "didFinish trial: bad (execution, bad)")
                #expect(there.root.publishedErrors.map(CallbackLog.text) == here.root.publishedErrors.map(CallbackLog.text))
                #expect(there.root.outcomes.map(\.isSuccess) == [true, true, false, true])
                #expect(
                    there.log.ends.filter { ["fetch", "all", "work", "last", "root"].contains($0) } == [
                        "fetch", "all", "work", "last", "root",
                    ])
                #expect(there.root.publishedErrors.first?.publishedError as? TrialError == TrialError(text: "bad"))
                await cluster.close()
            }
        }

        @Test func conditions_decideAlike_onBothQueues() async throws {
            try await ProcessHarness.with { harness in
                let there = try harness.write("there", "")
                func graph() -> (GroupOperation, [Emit]) {
                    let (bad, fine) = (Emit("bad", failures: 9), Emit("fine"))
                    let guarded: [any AOperationCondition] = [
                        NoFailedDependencies(), NegatedCondition(NoFailedDependencies()), FileThere(path: there),
                        FileThere(path: there + ".not"), NegatedCondition(FileThere(path: there + ".not")),
                        NegatedCondition(FileThere(path: there)), SilentCondition(NegatedCondition(NoCancelledDependencies())),
                    ]
                    let after = guarded.enumerated().map { index, condition in
                        let emit = Emit("\(index)").conditions(condition)
                        emit.addDependency(bad)
                        return emit
                    }
                    let onFine = Emit("on fine").conditions(NoFailedDependencies(), NoCancelledDependencies())
                    onFine.addDependency(fine)
                    return (GroupOperation([bad, fine, onFine] + after), after + [onFine])
                }
                let ((here, hereEnds), (remote, remoteEnds)) = (graph(), graph())
                _ = await here.result(on: AOperationQueue())
                let cluster = try await harness.trialCluster()
                _ = await remote.result(on: cluster)
                #expect(hereEnds.map { $0.outcome?.isSuccess } == [false, true, true, false, true, false, false, true])
                #expect(remoteEnds.map { $0.outcome?.isSuccess } == hereEnds.map { $0.outcome?.isSuccess })
                let origin = { (operation: Emit) in
                    operation.publishedErrors.map { [$0.state == .condition ? "condition" : "", $0.publisher] }
                }
                #expect(remoteEnds.map(origin) == hereEnds.map(origin))
                // What is judged elsewhere is itself, too.
                #expect(published(remoteEnds, 0, NoFailedDependencies.Error.self) == published(hereEnds, 0))
                #expect(published(remoteEnds, 0, NoFailedDependencies.Error.self)?.failedDependencies.count == 1)
                #expect(published(remoteEnds, 5, NegatedCondition<FileThere>.Error.self) == published(hereEnds, 5))
                #expect(
                    published(remoteEnds, 6, NegatedCondition<NoCancelledDependencies>.Error.self)?.negatedConditionKey
                        == "NoCancelledDependencies")
                await cluster.close()
            }
        }

        /// Some are evaluated in this process, some by a worker.
        @Test func conditionsOfBothPlaces_decideAlike_onBothQueues() async throws {
            try await ProcessHarness.with { harness in
                let there = try harness.write("there", "")
                func graph() -> (GroupOperation, [Emit]) {
                    let holds = BlockCondition { true }
                    let fails = BlockCondition { false }
                    let ends = [
                        Emit("all hold").conditions(holds, FileThere(path: there)),
                        Emit("none holds").conditions(fails, FileThere(path: there + ".not"), fails),
                        Emit("one does not").conditions(FileThere(path: there), fails),
                        Emit("nor here").conditions(holds, FileThere(path: there + ".not"), AndCondition(holds, fails)),
                    ]
                    return (GroupOperation(ends), ends)
                }
                let ((here, hereEnds), (remote, remoteEnds)) = (graph(), graph())
                _ = await here.result(on: AOperationQueue())
                let cluster = try await harness.trialCluster()
                _ = await remote.result(on: cluster)
                #expect(hereEnds.map { $0.outcome?.isSuccess } == [true, false, false, false])
                #expect(remoteEnds.map { $0.outcome?.isSuccess } == hereEnds.map { $0.outcome?.isSuccess })
                let origin = { (operation: Emit) in operation.publishedErrors.map { $0.publisher } }
                #expect(hereEnds.map { origin($0).count } == [0, 3, 1, 2])
                #expect(remoteEnds.map(origin) == hereEnds.map(origin))
                await cluster.close()
            }
        }

        private func published<Failure: Error>(_ ends: [Emit], _ index: Int, _ type: Failure.Type = Failure.self) -> Failure? {
            ends[index].publishedErrors.first?.publishedError as? Failure
        }

        @Test func cancelInTheMiddle_bodiesAreGone_beforeTheGroupEnds() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let (log, never, go) = ("\(harness.directory)/log", "\(harness.directory)/never", "\(harness.directory)/go")
                let children = ["a", "b", "c"].map { Emit(.init(text: $0, log: log, until: never, lingers: go)) }
                let unstarted = Emit("d", log: log)
                unstarted.addDependency(children[0])
                let group = GroupOperation(children + [unstarted])
                group.add(to: cluster)
                try await eventually("three bodies run") { harness.lines(of: "log").count == 3 }
                group.cancel()
                #expect(group.isCancelled)
                try await eventually("the cluster stops it") {
                    try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                        .contains { $0["state"].string == "stopping" }
                }
                #expect(!group.isFinished && children.allSatisfy { $0.outcome == nil })
                #expect(harness.lines(of: "log").count == 3)
                _ = try harness.write("go", "")
                await group.over()
                #expect(group.outcome?.isCancelled == true && children.allSatisfy { $0.outcome?.isCancelled == true })
                #expect(harness.lines(of: "log").sorted() == ["+a", "+b", "+c", "-a", "-b", "-c"])
                await cluster.close()
            }
        }

        @Test func coordinatorKilledInTheMiddle_everythingGoesOn_andIsToldOnce() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let (log, go) = ("\(harness.directory)/log", "\(harness.directory)/go")
                let waiting = ["a", "b"].map { Emit($0, log: log, until: go) }
                let (join, last) = (Join(), Emit("last", log: log))
                waiting.deliver(to: join)
                let root = OrderedGroupOperation(Emit("first", log: log), GroupOperation(waiting + [join]), last)
                let callbacks = CallbackLog()
                for (index, operation) in waiting.enumerated() { callbacks.listen(to: operation, as: "waiting\(index)") }
                callbacks.listen(to: join, as: "join")
                callbacks.listen(to: root, as: "root")
                root.add(to: cluster)
                try await eventually("both wait") { harness.lines(of: "log").count == 4 }
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try harness.write("go", "")
                try await eventually("both have ended, and nobody knows") { harness.lines(of: "log").count == 6 }
                _ = try await harness.startCoordinator()
                await root.over()
                #expect(root.outcome?.isSuccess == true, "\(root.publishedErrors)")
                #expect(join.outcome?.value == "a+b")
                try await eventually("didFinish is told") { callbacks.byName.values.allSatisfy { $0.last?.hasPrefix("didFinish") == true } }
                #expect(callbacks.byName["join"] == ["started", "didStart", "finished []", "didFinish a+b"])
                #expect(callbacks.byName["root"] == ["started", "didStart", "finished []", "didFinish ()"])
                #expect(harness.lines(of: "log").sorted() == ["+a", "+b", "+first", "+last", "-a", "-b", "-first", "-last"])
                await cluster.close()
            }
        }

        @Test func operationsOfOtherQueues_areWaitedFor_andWaitForIt() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let order = Mutex<[String]>([])
                let before = AOperationBlock { finish in
                    order.withLock { $0.append("before") }
                    finish()
                }
                let emit = Emit(.init(text: "0123456789", count: 30_000))
                emit.addDependency(before)
                emit.didStart { order.withLock { $0.append("emit") } }
                let after = BlockOperation { order.withLock { $0.append("after") } }
                after.addDependency(emit)
                cluster.addOperation(emit)
                OperationQueue().addOperation(after)
                AOperationQueue().addOperation(before)
                await emit.over()
                try await eventually("the dependent runs") { after.isFinished }
                #expect(order.withLock { $0 } == ["before", "emit", "after"])
                #expect(emit.outcome?.value?.utf8.count == 300_000)  // too large for a message
                await cluster.close()
            }
        }

        /// No worker knows it.
        final class Unheard: ResultableOperation<Int>, ClusterOperation, @unchecked Sendable {
            struct Parameters: Codable, Sendable {}
            let parameters = Parameters()
            init(_ parameters: Parameters = .init()) { super.init() }
        }

        @Test func whatCannotBeSubmitted_fails_andSaysWhy() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let (unheard, fine) = (Unheard(), Emit("fine"))
                let group = GroupOperation(unheard, fine)
                let refusal = await #expect(throws: ClusterError.self) { try await cluster.submit(group) }
                #expect(refusal?.code == .refused)
                #expect(refusal?.errors.map(\.path) == ["Unheard"])
                for operation in [unheard, fine, group] as [AOperation] {
                    await operation.over()
                    #expect(operation.publishedErrors.map(\.publisher) == ["Unheard"])
                    #expect(operation.publishedErrors.first?.localizedDescription.contains("unknown operation `Unheard`") == true)
                }
                let tried = AOperationBlock { finish in finish() }.retryOnFailure { _, _, retry in retry(true) }
                await #expect(throws: AOperationError.self) { try await tried.value(on: cluster) }
                #expect(tried.publishedErrors.first?.localizedDescription.contains("is no RetryableOperation") == true)
                cluster.requireRemote = true
                let block = AOperationBlock { finish in finish() }
                await #expect(throws: AOperationError.self) { try await block.value(on: cluster) }
                #expect(block.publishedErrors.first?.localizedDescription.contains("`requireRemote`") == true)
                await cluster.close()
                await #expect(throws: AOperationError.self) { try await Emit("late").value(on: cluster) }
            }
        }

        @Test func sameKey_isTheSameSubmission_andACancellationFromOutsideIsOneHere() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let (log, never) = ("\(harness.directory)/log", "\(harness.directory)/never")
                let first = Emit("a", log: log)
                let submission = try await cluster.submit(first, key: "one")
                #expect(try await submission.outcome()[first]?.value == "a")
                let second = Emit("a", log: log)
                let again = try await cluster.submit(second, key: "one")
                #expect(again.isExisting && again.id == submission.id)
                #expect(try await again.outcome().isSuccess)
                #expect(second.outcome?.value == "a")
                #expect(harness.lines(of: "log") == ["+a", "-a"])
                let endless = Emit("b", log: log, until: never)
                let group = GroupOperation(endless)
                let third = try await cluster.submit(group)
                try await eventually("it runs") { harness.lines(of: "log").count == 3 }
                #expect(try await harness.aop("cancel", third.id).status == 0)
                let outcome = try await third.outcome()
                #expect(outcome.state == .cancelled && !outcome.isSuccess)
                #expect(endless.outcome?.isCancelled == true && endless.isCancelled)
                #expect(group.outcome?.isCancelled == true)
                await cluster.close()
            }
        }

        @Test func submissionOfAnotherProcess_isFoundByItsKey_afterARestartOfTheCoordinator() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let (submitter, go) = (try await harness.connect(), "\(harness.directory)/go")
                let (big, waiting) = (Emit(.init(text: "0123456789", until: go, count: 30_000)), Emit("bad", until: go, failures: 1))
                big.name = "big/one"
                _ = try await submitter.submit(GroupOperation(big, waiting), key: "nightly/1")
                await submitter.close()
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try await harness.startCoordinator()

                let cluster = try await harness.connect()
                let found = try await cluster.connection.submission(key: "nightly/1")
                #expect(found.key == "nightly/1")
                #expect(try await cluster.connection.submission(found.id).id == found.id)
                async let outcome = found.outcome()
                _ = try harness.write("go", "")
                let ended = try await outcome
                #expect(ended.state == .failed && ended.failures.map(\.path) == ["Emit"])
                #expect(ended.errors.map { $0.publishedError as? TrialError } == [TrialError(text: "bad")])
                #expect(try await found.value(of: "big-one", as: String.self).utf8.count == 300_000)
                await #expect(throws: ClusterCodingError.self) { try await found.value(of: "big-one", as: Int.self) }
                for (path, words) in [("Emit", "has no value: it is failed"), ("", "is a group"), ("x", "no operation `x`")] {
                    let error = await #expect(throws: ClusterError.self) { try await found.value(of: path, as: String.self) }
                    #expect(error?.code == .notFound && error?.message.contains(words) == true, "\(String(describing: error))")
                }
                let missing = await #expect(throws: ClusterError.self) { try await cluster.connection.submission(key: "x") }
                #expect(missing?.message.contains("no submission has the key `x`") == true)
                await cluster.close()
            }
        }

        @Test func watcherInAnotherProcess_losesNothing_andHearsNothingTwice_overARestartOfTheCoordinator() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                _ = try await harness.waitForExecutors(1)
                let nodes = (0..<300).map { "  - {id: n\($0), run: 'true'}\n" }
                let graph = try harness.write("many.yaml", "group:\n" + nodes.joined())
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let cluster = try await harness.connect()
                let submission = try await cluster.connection.submission(id)
                let watched = Watched()
                async let watching: Void = {
                    for try await event in submission.events { watched.take(event) }
                }()
                try await eventually("some have ended") { watched.succeeded >= 30 }
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try await harness.startCoordinator()
                try await watching
                let (succeeded, mistakes, views) = watched.result
                #expect(succeeded == 300 && mistakes.isEmpty && views == 2, "\(mistakes)")
                await cluster.close()
            }
        }

        /// What a watcher makes of a submission: views, and the events between them.
        private final class Watched: Sendable {
            private struct State {
                var succeeded = 0
                var views = 0
                var ended: Set<String> = []
                var mistakes: [String] = []
            }

            private let state = Guarded(State())

            var succeeded: Int { state.withLock { $0.succeeded } }
            var result: (succeeded: Int, mistakes: [String], views: Int) { state.withLock { ($0.succeeded, $0.mistakes, $0.views) } }

            func take(_ event: SubmissionEvent) {
                state.withLock { state in
                    switch event {
                    case .interrupted: break
                    case .status(let status):
                        state.views += 1
                        // What was told is so, after a restart, too; what was not told yet follows.
                        if status.counts.succeeded < state.succeeded {
                            state.mistakes.append("what had succeeded has not, after a restart")
                        }
                    case .operations(let events, _):
                        for event in events where event.state == .succeeded {
                            state.succeeded += 1
                            if !state.ended.insert(event.path).inserted { state.mistakes.append("\(event.path) twice") }
                        }
                    }
                }
            }
        }

        @Test func limits_haveTheLibrarysErrors_closedQueueLosesNothingThere() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let (log, never) = ("\(harness.directory)/log", "\(harness.directory)/never")
                let slow = Emit("slow", until: never).timeout(.milliseconds(50))
                let group = GroupOperation(Emit("x", until: never)).deadline(.milliseconds(50))
                let submission = try await cluster.submit(GroupOperation(slow, group))
                _ = try await submission.outcome()
                #expect(slow.publishedErrors.first?.publishedError as? TimeoutObserver.Error == TimeoutObserver.Error(seconds: 0.05))
                #expect(slow.publishedErrors.first?.publisher == "Emit")
                let passed = group.publishedErrors.first?.publishedError as? AOperationError.DeadlinePassed
                #expect(passed?.limit == .milliseconds(50))
                let left = Emit("left", log: log, until: "\(harness.directory)/go")
                left.add(to: cluster)
                try await eventually("it runs") { harness.lines(of: "log") == ["+left"] }
                await cluster.close()
                await left.over()
                #expect((left.publishedErrors.first?.publishedError as? ClusterError)?.code == .closed)
                _ = try harness.write("go", "")
                #expect(try await harness.aop("wait", "last", "-o", "quiet").status == 0)
                _ = never
            }
        }

        @Test func suspendedQueue_submitsNothing_andWhatIsCancelledMeanwhileNeverRuns() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let log = "\(harness.directory)/log"
                let order = Mutex<[String]>([])
                cluster.isSuspended = true
                let (a, b, later) = (Emit("a", log: log), Emit("b", log: log), Emit("later", log: log))
                let group = GroupOperation(a, b)
                cluster.addOperation(group)
                cluster.addBarrierBlock { order.withLock { $0.append("barrier") } }
                cluster.addOperation(later.didStart { order.withLock { $0.append("later") } })
                a.cancel()
                await a.over()
                #expect(try JSON(parsing: try await harness.aop("list", "-o", "json").text)["submissions"].elements.isEmpty)
                cluster.isSuspended = false
                await later.over()
                #expect(group.outcomes.map(\.isSuccess) == [false, true])
                #expect(group.publishedErrors.map(CallbackLog.text) == ["The Operation Emit is Cancelled (execution, Emit)"])
                #expect(harness.lines(of: "log") == ["+b", "-b", "+later", "-later"])
                #expect(order.withLock { $0 } == ["barrier", "later"])
                await cluster.close()
            }
        }

        @Test func manyOperations_inGroupsOfGroups_endAsOnALocalQueue() async throws {
            try await ProcessHarness.with { harness in
                func graph() -> (GroupOperation, [Join]) {
                    var joins: [Join] = []
                    let groups = (0..<12).map { number in
                        let leaves = (0..<12).map { Emit("\(number).\($0)", failures: $0 == number ? 1 : nil) }
                        let join = Join()
                        leaves.filter { $0.parameters.failures == nil }.deliver(to: join)
                        joins.append(join)
                        let inner = number.isMultiple(of: 2) ? GroupOperation(leaves) : OrderedGroupOperation(leaves)
                        inner.maxConcurrentOperationCount = number % 4 + 1
                        return OrderedGroupOperation(inner, join)
                    }
                    return (GroupOperation(groups), joins)
                }
                let ((here, hereJoins), (there, thereJoins)) = (graph(), graph())
                _ = await here.result(on: AOperationQueue())
                let cluster = try await harness.trialCluster()
                _ = await there.result(on: cluster)
                #expect(there.publishedErrors.count == 12)
                #expect(there.publishedErrors.map(CallbackLog.text) == here.publishedErrors.map(CallbackLog.text))
                #expect(thereJoins.map { $0.outcome?.value } == hereJoins.map { $0.outcome?.value })
                #expect(thereJoins.allSatisfy { $0.outcome?.value?.split(separator: "+").count == 11 })
                await cluster.close()
            }
        }
    }
}

extension AOperation {
    /// Waits until outcome and body are over.
    func over() async {
        await withCheckedContinuation { continuation in whenOver { continuation.resume() } }
    }
}
