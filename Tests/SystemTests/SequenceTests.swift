import AOperation
import Cluster
import Foundation
import Testing
import TrialOperations

extension SystemTests {
    /// Operation sequences that workers decide.
    @Suite struct Sequences {
        /// A sequence, what its listeners are told, and what runs after it if it succeeds.
        private struct Trial {
            let log = CallbackLog()
            let directory: String
            let sequence: OperationSequence
            let root: GroupOperation

            init(_ directory: String, _ make: (_ log: String) -> OperationSequence) {
                self.directory = directory
                sequence = make("\(directory)/log")
                let after = Emit("after", log: "\(directory)/log").conditions(NoFailedDependencies())
                after.addDependency(sequence)
                root = GroupOperation(sequence, after)
                log.listen(to: sequence, as: "sequence")
            }

            func run(on queue: AOperationQueue) async throws {
                queue.callbackQueue = DispatchQueue(label: "callbacks")
                _ = await root.result(on: queue)
                try await eventually("all listeners have been told") {
                    log.byName.values.allSatisfy { $0.last?.hasPrefix("didFinish") == true }
                }
            }

            /// How each step ended, in their order.
            var steps: [String] {
                sequence.outcomes.map { outcome in
                    switch outcome {
                    case .success: "success"
                    case .failure(let errors): "\(errors.map(CallbackLog.text))"
                    case .cancelled: "cancelled"
                    }
                }
            }
        }

        private static let sequences: [(String, @Sendable (_ log: String) -> OperationSequence)] = [
            ("steps", { Steps(.init(log: $0, steps: ["a", "bad b", "net c", "net bad d", "group e", "group bad f", "steps g", "said"])) }),
            ("last step fails", { Steps(.init(log: $0, steps: ["bad a", "b", "group bad c", "bad d"])) }),
            ("stop", { Steps(.init(log: $0, steps: ["a", "bad b", "c"])).onFailure(.stop) }),
            ("no step", { Steps(.init(log: $0, steps: [])) }),
            ("linear", { Line(.init(text: "two", log: $0)) }),
            ("linear, failing", { Line(.init(text: "bad", log: $0)) }),
            ("retry", { Tries(.init(attempts: 5, log: $0)) }),
            ("retry, too few", { Tries(.init(attempts: 2, log: $0)) }),
        ]

        @Test(arguments: sequences.indices)
        func sameSequence_onBothQueues_endsAlike_andTellsTheSame(index: Int) async throws {
            let make = Self.sequences[index].1
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let folders = try harness.folders("here", "there")
                let (here, there) = (Trial(folders[0], make), Trial(folders[1], make))
                try await here.run(on: AOperationQueue())
                let cluster = try await harness.trialCluster()
                cluster.requireRemote = true
                try await there.run(on: cluster)
                #expect(there.log.byName == here.log.byName)
                #expect(there.steps == here.steps)
                #expect(there.root.outcomes.map(\.isSuccess) == here.root.outcomes.map(\.isSuccess))
                #expect(there.sequence.publishedErrors.map(CallbackLog.text) == here.sequence.publishedErrors.map(CallbackLog.text))
                // What it was asked, and what ran, in this order.
                func lines(_ folder: String) -> [String] { harness.lines(of: folder).filter { !$0.hasSuffix("more") } }
                #expect(lines("there/log") == lines("here/log"))
                await cluster.close()
            }
        }

        @Test func whatIsAdded_isRemembered_alsoWhenSubmitterWorkersAndCoordinatorAreLost() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                let executor = try await harness.waitForExecutors(1)[0]
                let submitter = try await harness.connect()
                var parameters = Steps.Parameters(log: "\(harness.directory)/log", steps: ["a", "bad b", "c", "said"])
                (parameters.holdsAfter, parameters.until) = ("trial: bad b", "\(harness.directory)/decide")
                (parameters.waits, parameters.stepUntil) = ("c", "\(harness.directory)/end")
                _ = try await submitter.submit(GroupOperation(Steps(parameters), Emit("beside")), key: "steps")
                await submitter.close()

                // Within a decision: a worker, then the coordinator.
                try await eventually("it decides after the second step") { harness.lines(of: "log").contains("?trial: bad b") }
                kill(executor, SIGKILL)
                try await eventually("that is decided again") { harness.lines(of: "log").count { $0 == "?trial: bad b" } == 2 }
                try await first.send(SIGKILL)
                _ = try await first.finish()
                let second = try await harness.startCoordinator()
                _ = try harness.write("decide", "")

                // Between two: the same.
                try await eventually("the third step runs") { harness.lines(of: "log").contains("+c") }
                let next = try await harness.waitForExecutors(1)[0]
                #expect(next != executor)
                kill(next, SIGKILL)
                try await second.send(SIGKILL)
                _ = try await second.finish()
                _ = try await harness.startCoordinator()
                _ = try harness.write("end", "")

                let cluster = try await harness.connect()
                let found = try await cluster.connection.submission(key: "steps")
                let outcome = try await found.outcome()
                #expect(outcome.isSuccess, "\(outcome.errors)")
                #expect(try await found.value(of: "Steps/Emit+4", as: String.self) == "a+trial: bad b+c")
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                #expect(
                    shown.compactMap { $0["path"].string } == [
                        "Steps", "Steps/Emit+1", "Steps/Emit+2", "Steps/Emit+3", "Steps/Emit+4", "Emit",
                    ], "\(shown)")
                #expect(
                    shown.compactMap { $0["state"].string } == ["succeeded", "succeeded", "failed", "succeeded", "succeeded", "succeeded"])
                await cluster.close()
            }
        }

        @Test func aStepThatReceivesFromTheOneBefore_isRefusedByName() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let steps = Steps(.init(log: "\(harness.directory)/log", steps: ["a", "receive"]))
                let error = await steps.result(on: cluster).error
                let text = error?.localizedDescription ?? ""
                #expect(text.contains("a decision of the group about `Emit+1` failed"), "\(text)")
                #expect(text.contains("`Emit` is in another queue, or has ended; make a fresh one"), "\(text)")
                #expect(steps.outcomes.map(\.isSuccess) == [true])
                await cluster.close()
            }
        }

        /// What is repeated comes from an iterator, which no worker has.
        final class Repeats: RepeatOperation, ClusterGroup, @unchecked Sendable {
            struct Parameters: Codable, Sendable {}
            let parameters: Parameters

            init(_ parameters: Parameters) {
                self.parameters = parameters
                var count = 0
                super.init(
                    iterator: AnyIterator<AOperation> {
                        count += 1
                        return count > 2 ? nil : Emit("\(count)")
                    })
            }
        }

        @Test func aRepetition_isDecidedHere_whateverItConformsTo() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let repeats = Repeats(.init())
                #expect(await repeats.result(on: cluster).error == nil)
                #expect(repeats.results(of: String.self) == ["1", "2"])
                cluster.requireRemote = true
                await #expect(throws: ClusterError.self) { try await cluster.submit(GroupOperation(Repeats(.init()))) }
                await cluster.close()
            }
        }
    }
}
