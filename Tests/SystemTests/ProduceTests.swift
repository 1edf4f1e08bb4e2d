import AOperation
import Cluster
import Foundation
import Synchronization
import Testing
import TrialOperations

extension SystemTests {
    /// Operations on workers that produce others.
    @Suite struct Produce {
        private func paths(_ harness: ProcessHarness) async throws -> [String] {
            try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                .compactMap { $0["path"].string }
        }

        @Test func whatIsProduced_runsInTheGroup_andIsToldHere() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let log = "\(harness.directory)/log"
                let told = Mutex<[String]>([])
                let grandchild = Sprout.Parameters("grandchild", log: log)
                let sprout = Sprout("sprout", log: log) { parameters in
                    parameters.makes = [.init("one", log: log), .init("two", log: log)]
                    parameters.makes[0].makes = [grandchild]
                    parameters.once = ["emitted"]
                }
                sprout.didProduce { product in told.withLock { $0.append(product.name ?? "") } }
                let inner = GroupOperation(sprout)
                let (last, lonely) = (Emit("last", log: log), Sprout("lonely", log: log) { $0.makes = [.init("at the root", log: log)] })
                last.addDependency(inner)
                let root = GroupOperation(inner, last, lonely)
                let submission = try await cluster.submit(root)
                let outcome = try await submission.outcome()
                #expect(outcome.isSuccess, "\(outcome.errors)")
                #expect(inner.operations.count == 5)
                #expect(inner.outcomes.map(\.isSuccess) == [true, true, true, true, true])
                #expect(told.withLock { $0.sorted() } == ["Sprout", "Sprout-2", "emitted"])
                let values = inner.operations.compactMap { try? ($0 as? AddedOperation)?.result?.get().decoded(as: String.self) }
                #expect(values.sorted() == ["emitted", "grandchild", "one", "two"])
                let lines = harness.lines(of: "log")
                #expect(lines.filter { $0 == "+grandchild" || $0 == "-at the root" || $0 == "+emitted" }.count == 3, "\(lines)")
                // It waits for the group, and that for everything in it.
                let place = try #require(lines.firstIndex(of: "+last"))
                for line in ["-grandchild", "-one", "-two", "-emitted"] { #expect(lines.firstIndex(of: line).map { $0 < place } == true) }
                let shown = try await paths(harness)
                #expect(shown.contains("group/emitted") && shown.contains("group/Sprout+2.1"), "\(shown)")
                await cluster.close()
            }
        }

        @Test func netsAndGroupsAreProducedWhole_andTheirFailureIsTheGroups() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let log = "\(harness.directory)/log"
                let sprout = Sprout("sprout", log: log) { parameters in
                    parameters.makes = [.init("one", log: log), .init("two", log: log)]
                    parameters.makes[1].makes = [.init("bad", log: log)]
                    parameters.makes[1].makes[0].failures = 9
                    parameters.isJoined = true
                }
                let group = GroupOperation(sprout)
                let submission = try await cluster.submit(group)
                let outcome = try await submission.outcome()
                #expect(!outcome.isSuccess)
                #expect(group.publishedErrors.map { $0.publishedError as? TrialError } == [TrialError(text: "bad")])
                let added = try #require(group.operations.last as? GroupOperation)
                #expect(added.operations.count == 5)
                let join = added.operations.compactMap { $0 as? AddedOperation }.first { $0.operationType == "Join" }
                #expect(try join?.result?.get().decoded(as: String.self) == "one+two")
                await cluster.close()
            }
        }

        @Test func attemptsThatFail_orDie_leaveNothing_andIdsAreThereOnce() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                let executors = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let (log, go) = ("\(harness.directory)/log", "\(harness.directory)/go")
                let sprout = Sprout("sprout", log: log) { parameters in
                    parameters.makes = [.init("child", log: log)]
                    parameters.once = ["once"]
                    parameters.failures = 1
                    parameters.until = go
                }.retry(RetryPolicy(attempts: 3))
                let group = GroupOperation(sprout)
                group.add(to: cluster)
                try await eventually("the second one has ended before the first has") {
                    try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                        .contains { $0["path"].string == "once" && $0["state"].string == "succeeded" }
                }
                // One attempt dies, under a coordinator that dies as well.
                try await first.send(SIGKILL)
                _ = try await first.finish()
                kill(executors[0], SIGKILL)
                _ = try await harness.startCoordinator()
                try await eventually("another attempt") { harness.lines(of: "log").count { $0 == "+sprout" } == 2 }
                #expect(!harness.lines(of: "log").contains("+child"))
                _ = try harness.write("go", "")
                await group.over()
                #expect(group.outcome?.isSuccess == true, "\(group.publishedErrors)")
                let lines = harness.lines(of: "log")
                #expect(lines.count { $0 == "+child" } == 1, "\(lines)")
                #expect(lines.count { $0 == "+once" } == 1, "\(lines)")
                #expect(group.operations.count == 3)
                await cluster.close()
            }
        }

        @Test func whatCannotBeSent_failsTheAttempt_whichLeavesNothing() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let log = "\(harness.directory)/log"
                let sprout = Sprout("sprout", log: log) { parameters in
                    parameters.makes = [.init("child", log: log)]
                    parameters.isWrong = true
                }
                await #expect(throws: AOperationError.self) { try await sprout.value(on: cluster) }
                let text = sprout.publishedErrors.first?.localizedDescription ?? ""
                #expect(text.contains("`Unregistered`") && text.contains("no worker has ever registered it"), "\(text)")
                #expect(!harness.lines(of: "log").contains("+child"))
                #expect(try await paths(harness) == ["Sprout"])
                await cluster.close()
            }
        }

        /// Produces closures and remote operations in the process that has submitted it.
        final class Maker: VoidOperation, RetryableOperation, @unchecked Sendable {
            let products: @Sendable () -> [Foundation.Operation]
            let once: @Sendable () -> Foundation.Operation?
            let left: HostedCode.Counter

            init(
                failures: Int = 0, once: @escaping @Sendable () -> Foundation.Operation? = { nil },
                _ products: @escaping @Sendable () -> [Foundation.Operation]
            ) {
                self.products = products
                self.once = once
                left = HostedCode.Counter(failures)
                super.init()
            }

            private init(_ other: Maker) {
                products = other.products
                once = other.once
                left = other.left
                super.init()
            }

            func new() -> Maker { Maker(self) }

            override func execute() {
                for product in products() { produce(product) }
                if let operation = once() { produce(operation, id: "once") }
                finish(with: left.take() ? .failure(AOperationError(TrialError(text: "maker"))) : .success(()))
            }
        }

        @Test func hostedOperations_produceRealOnes_alsoHostedOnes() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let log = "\(harness.directory)/log"
                let order = Mutex<[String]>([])
                let note: @Sendable (String) -> Void = { text in order.withLock { $0.append(text) } }
                let told = Mutex<[ObjectIdentifier]>([])
                let made = Mutex<[AOperation]>([])
                let maker = Maker(
                    failures: 1,
                    once: {
                        AOperationBlock { finish in
                            note("once"); finish()
                        }
                    },
                    {
                        let emit = Emit("emitted", log: log)
                        let shout = MapOperationBlock<String, String> { text, finish in
                            note("block")
                            finish((text ?? .success("")).map { $0.uppercased() })
                        }
                        shout.didFinish { result in if let text = try? result.get() { note(text) } }
                        emit.deliver(to: shout)
                        made.withLock { $0 = [emit, shout] }
                        return [emit, shout]
                    }
                ).retry(RetryPolicy(attempts: 3))
                maker.didProduce { product in told.withLock { $0.append(ObjectIdentifier(product)) } }
                let group = GroupOperation(maker)
                let submission = try await cluster.submit(group)
                let outcome = try await submission.outcome()
                #expect(outcome.isSuccess, "\(outcome.errors)")
                try await eventually("the block's listener is told") { order.withLock { $0.count } == 3 }
                #expect(order.withLock { $0.filter { $0 == "once" }.count } == 1)
                #expect(order.withLock { $0.filter { $0 != "once" } } == ["block", "EMITTED"])
                #expect(harness.lines(of: "log") == ["+emitted", "-emitted"])
                let products = made.withLock { $0 }
                #expect(group.operations.count == 4)
                #expect(products.allSatisfy { product in group.operations.contains { $0 === product } })
                #expect(told.withLock { Set($0).isSuperset(of: products.map { ObjectIdentifier($0) }) })
                #expect(products.allSatisfy { $0.outcomeIsSuccess })
                await cluster.close()
            }
        }

        @Test func whatHostedOperationsCannotProduce_failsThem() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let held = GroupOperation(AOperationBlock { finish in finish() }).retry(RetryPolicy(attempts: 2))
                let maker = Maker { [held] }
                await #expect(throws: AOperationError.self) { try await maker.value(on: cluster) }
                let text = maker.publishedErrors.first?.localizedDescription ?? ""
                #expect(text.contains("a group with a RetryPolicy, and comes to a graph that runs"), "\(text)")
                await cluster.close()
            }
        }
    }
}

extension AOperation {
    fileprivate var outcomeIsSuccess: Bool { isFinished && publishedErrors.isEmpty && !isCancelled }
}
