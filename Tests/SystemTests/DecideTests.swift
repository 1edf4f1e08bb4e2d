import AOperation
import Cluster
import Foundation
import Synchronization
import Testing
import TrialOperations

extension SystemTests {
    /// Groups that decide what they do next, on workers and in this process.
    @Suite struct Decide {
        private func names(_ group: GroupOperation) -> [String] {
            group.operations.map { ($0 as? AddedOperation)?.operationType ?? "\(type(of: $0))" }
        }

        @Test(arguments: [("fresh", "Skip"), ("stale", "Build")])
        func buildOrSkip_doesTheSame_hereAndThere(project: String, second: String) async throws {
            try await ProcessHarness.with { harness in
                let log = "\(harness.directory)/log"
                let local = BuildOrSkip(.init(project: project, log: log))
                AOperationQueue().addOperation(local)
                await local.over()
                #expect(names(local) == ["CheckCache", second])
                let cluster = try await harness.trialCluster()
                let (remote, last) = (BuildOrSkip(.init(project: project, log: log)), Emit("last", log: log))
                last.addDependency(remote)
                let submission = try await cluster.submit(GroupOperation(remote, last))
                let outcome = try await submission.outcome()
                #expect(outcome.isSuccess, "\(outcome.errors)")
                #expect(names(remote) == names(local))
                #expect(remote.outcomes.map(\.isSuccess) == local.outcomes.map(\.isSuccess))
                let did = "\(second.lowercased()) \(project)"
                #expect(harness.lines(of: "log") == ["check \(project)", did, "check \(project)", did, "+last", "-last"])
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                #expect(
                    shown.compactMap { $0["path"].string } == ["BuildOrSkip", "BuildOrSkip/CheckCache", "BuildOrSkip/\(second)+1", "Emit"])
                await cluster.close()
            }
        }

        @Test func killedWorkers_andAKilledCoordinator_withinADecisionAndBetweenTwo_changeNothing() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                let executors = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let (log, go) = ("\(harness.directory)/log", "\(harness.directory)/go")
                var parameters = Relay.Parameters(log: log, steps: ["a", "b", "c"])
                (parameters.holdsAfter, parameters.until) = ("b", go)
                let group = Relay(parameters)
                group.add(to: cluster)
                try await eventually("the second decision has begun") { harness.lines(of: "log").contains("?b") }
                kill(executors[0], SIGKILL)
                try await eventually("it is made again") { harness.lines(of: "log").count { $0 == "?b" } == 2 }
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try await harness.startCoordinator()
                _ = try harness.write("go", "")
                await group.over()
                #expect(group.outcome?.isSuccess == true, "\(group.publishedErrors)")
                let lines = harness.lines(of: "log")
                #expect(lines.count { $0 == "+c" } == 1, "\(lines)")
                // What it remembers has survived all of that.
                let values = group.operations.compactMap { try? ($0 as? AddedOperation)?.result?.get().decoded(as: String.self) }
                #expect(values == ["b", "c", "a+b+c"])
                await cluster.close()
            }
        }

        @Test func onlyFailures_areAskedAbout_andTheChildIsMadeAgainWithItsError() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let log = "\(harness.directory)/log"
                let group = Mend(.init(log: log, steps: ["good", "bad one"]))
                let submission = try await cluster.submit(GroupOperation(group))
                #expect(!(try await submission.outcome().isSuccess))
                #expect(group.publishedErrors.map { $0.publishedError as? TrialError } == [TrialError(text: "bad one")])
                let asked = harness.lines(of: "log").filter { $0.hasPrefix("?") }
                #expect(asked == ["?bad one bad one Mend/Emit-2"])
                #expect(harness.lines(of: "log").contains("-mended bad one"))
                #expect(group.operations.count == 3)
                await cluster.close()
            }
        }

        @Test func whatCannotBeAdded_failsTheGroup_withAnErrorThatNamesIt() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                var parameters = Relay.Parameters(log: "\(harness.directory)/log", steps: ["a", "b"])
                parameters.isWrongAfter = "a"
                let group = Relay(parameters)
                let submission = try await cluster.submit(GroupOperation(group))
                #expect(!(try await submission.outcome().isSuccess))
                let text = group.publishedErrors.first?.localizedDescription ?? ""
                #expect(text.contains("a decision of the group about `Relay/Emit` failed") && text.contains("Unregistered"), "\(text)")
                #expect(group.operations.count == 1)
                let unknown = UnregisteredGroup(.init())
                await #expect(throws: ClusterError.self) { try await cluster.submit(GroupOperation(unknown, Emit("a"))) }
                let refusal = unknown.publishedErrors.first?.localizedDescription ?? ""
                #expect(refusal.contains("unknown operation `UnregisteredGroup`: no worker has ever registered it"), "\(refusal)")
                await cluster.close()
            }
        }

        // MARK: In this process

        /// Adds as it is told by a closure, which has what no worker has.
        final class Chooser: GroupOperation, @unchecked Sendable {
            let choose: @Sendable (Operation, [AOperationError]) -> [Operation]

            init(_ children: [Operation], _ choose: @escaping @Sendable (Operation, [AOperationError]) -> [Operation]) {
                self.choose = choose
                super.init(children)
            }

            override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
                addOperations(choose(operation, errors))
            }
        }

        @Test func aGroupOfThisProcess_decidesInTheVeryObject_andWhatItAddsRunsOnWorkersOrHere() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let log = "\(harness.directory)/log"
                let told = Mutex<[String]>([])
                let block = Mutex(false)
                let first = Emit("first", log: log)
                let chooser = Chooser([first]) { operation, _ in
                    told.withLock { $0.append(operation.name ?? "") }
                    guard operation === first else { return [] }
                    let (emit, shout) = (Emit((try? first.result?.get()) ?? "nothing", log: log), Shout())
                    emit.deliver(to: shout)
                    emit.name = "emit"
                    shout.name = "shout"
                    let here = AOperationBlock { finish in
                        block.withLock { $0 = true }
                        finish()
                    }
                    here.name = "here"
                    return [emit, shout, here]
                }
                first.name = "first"
                let last = Emit("last", log: log)
                last.addDependency(chooser)
                let submission = try await cluster.submit(GroupOperation(chooser, last))
                let outcome = try await submission.outcome()
                #expect(outcome.isSuccess, "\(outcome.errors)")
                #expect(chooser.operations.map { $0.name ?? "" } == ["first", "emit", "shout", "here"])
                #expect(told.withLock { $0.sorted() } == ["emit", "first", "here", "shout"])
                #expect(try (chooser.operations[2] as? Shout)?.result?.get() == "FIRST")
                #expect(block.withLock { $0 })
                #expect(harness.lines(of: "log").suffix(2) == ["+last", "-last"])
                cluster.requireRemote = true
                await #expect(throws: ClusterError.self) { try await cluster.submit(Chooser([]) { _, _ in [] }) }
                await cluster.close()
            }
        }

        @Test func aWrapper_makesItsOperationHere_whichRunsThere_andEndsAsThatDoes() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let log = "\(harness.directory)/log"
                let first = Emit("one", log: log)
                func wrapper(failures: Int? = nil, isEmpty: Bool = false) -> WrapperOperation<String, String> {
                    WrapperOperation { received in
                        guard !isEmpty, let text = try? received?.get() else { return nil }
                        let shout = Shout()
                        return Emit("<\(text)>", log: log, failures: failures).deliver(to: shout)
                    }
                }
                let (fine, bad, empty, last) = (wrapper(), wrapper(failures: 9), wrapper(isEmpty: true), Shout())
                for wrapper in [fine, bad, empty] { first.deliver(to: wrapper) }
                fine.deliver(to: last)
                let submission = try await cluster.submit(GroupOperation(first, fine, bad, empty, last))
                _ = try await submission.outcome()
                #expect(fine.outcome?.value == "<ONE>")
                #expect(last.outcome?.value == "<ONE>")
                #expect(bad.errors.map { $0.publishedError as? TrialError } == [TrialError(text: "<one>")])
                #expect(empty.errors.first?.publishedError is AOperationError.NothingToRun)
                #expect(harness.lines(of: "log").contains("+<one>"))
                await cluster.close()
            }
        }

        @Test func aSequence_runsItsStepsOnWorkers_alsoThroughARestart_andDealsWithFailures() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let (log, go) = ("\(harness.directory)/log", "\(harness.directory)/go")
                let asked = Mutex<[String]>([])
                let sequence = OperationSequence(wait: .constant(0.01)) { previous in
                    asked.withLock { $0.append(previous.map { ($0 as? Emit)?.parameters.text ?? "?" } ?? "nothing") }
                    switch (previous as? Emit)?.parameters.text {
                    case nil: return Emit("one", log: log, until: go)
                    case "one": return Emit("two", log: log, failures: 9)
                    case "two": return Emit("three", log: log)
                    default: return nil
                    }
                }
                let last = Emit("last", log: log)
                last.conditions(NoFailedDependencies())
                last.addDependency(sequence)
                let group = GroupOperation(sequence, last)
                group.add(to: cluster)
                try await eventually("the first step runs") { harness.lines(of: "log").contains("+one") }
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                _ = try harness.write("go", "")
                await group.over()
                #expect(group.outcome?.isSuccess == true, "\(group.publishedErrors)")
                #expect(sequence.outcomes.map(\.isSuccess) == [true, false, true])
                #expect(asked.withLock { $0 } == ["nothing", "one", "two", "three"])
                // The cluster knows as well that the failure was dealt with.
                #expect(harness.lines(of: "log").suffix(2) == ["+last", "-last"])
                await cluster.close()
            }
        }
    }
}
