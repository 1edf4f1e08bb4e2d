import AOperation
import Cluster
import Foundation
import Synchronization
import Testing
import TrialOperations

extension SystemTests {
    /// Dependent operations of conditions, of graphs that run on a cluster.
    @Suite struct DependentOperations {
        /// A condition that wants something done.
        private struct Wants: AOperationCondition {
            let make: @Sendable () -> AOperation
            var dependentOperation: AOperation? { make() }
        }

        /// Operations of both places with dependent operations of both places, and their listeners.
        private struct Mixture {
            let log = CallbackLog()
            let root: GroupOperation

            init(_ directory: String) {
                func emit(_ name: String, failures: Int? = nil) -> Emit { Emit(name, log: "\(directory)/\(name)", failures: failures) }
                let (made, bad, block) = (emit("made"), emit("bad", failures: 9), emit("block"))
                let inner = GroupOperation(emit("one"), emit("two"))
                let (made1, bad1, inner1) = (Wants { made }, Wants { bad }, Wants { inner })
                let a = emit("a").conditions(made1)
                let refused = emit("refused").conditions(bad1)
                let here = MapOperationBlock<Void, String> { _, finish in finish(.success("here")) }.conditions(Wants { block })
                let group = GroupOperation(emit("child")).conditions(inner1)
                root = GroupOperation(a, refused, here, group)
                for (name, operation) in ["made": made, "bad": bad, "block": block, "a": a, "refused": refused, "here": here] {
                    log.listen(to: operation, as: name)
                }
                for (name, operation) in ["inner": inner, "group": group, "root": root] { log.listen(to: operation, as: name) }
            }
        }

        @Test func theyRunFirst_onWorkersOrHere_andAreToldAsOnAQueue() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let folders = try harness.folders("here", "there")
                let (here, there) = (Mixture(folders[0]), Mixture(folders[1]))
                _ = await here.root.result(on: AOperationQueue())
                let cluster = try await harness.trialCluster()
                _ = await there.root.result(on: cluster)
                try await eventually("all listeners have been told") {
                    [here, there].allSatisfy { mixture in
                        mixture.log.byName.count == 9 && mixture.log.byName.values.allSatisfy { $0.last?.hasPrefix("didFinish") == true }
                    }
                }
                for name in here.log.byName.keys.sorted() {
                    #expect(there.log.byName[name] == here.log.byName[name], "\(name)")
                }
                #expect(there.log.byName["refused"]?.last?.contains("trial: bad (condition, bad)") == true)
                let ends = there.log.ends
                // "bad" and "refused" end in one commit: those are told in any order.
                for (first, second) in [("made", "a"), ("block", "here"), ("inner", "group")] {
                    let places = [first, second].map { ends.firstIndex(of: $0) ?? -1 }
                    #expect(places[0] >= 0 && places[0] < places[1], "\(first), \(second)")
                }
                await cluster.close()
            }
        }

        @Test func eachAttempt_hasAFreshOne_alsoOfAClosure() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let (made, ran) = (Counter(), Counter())
                let tried = Emit("tried", log: "\(harness.directory)/tried", failures: 2).retry(RetryPolicy(attempts: 3))
                tried.conditions(
                    Wants {
                        made.count()
                        return AOperationBlock { finish in
                            ran.count()
                            finish()
                        }
                    })
                let value = try await tried.value(on: cluster)
                #expect(value == "tried")
                #expect(made.value == 3 && ran.value == 3)
                await cluster.close()
            }
        }

        @Test func cancelledByItself_failsItsCondition_andIsToldHere() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let dependent = Emit("dependent", until: "\(harness.directory)/never")
                let operation = Emit("a", log: "\(harness.directory)/a").conditions(Wants { dependent })
                _ = try await cluster.submit(operation)
                dependent.cancel()
                await operation.over()
                await dependent.over()
                let error = try #require(operation.outcome?.errors.first)
                #expect(error.state == .condition && error.publishedError is AOperationError.IsCancelled)
                #expect(dependent.outcome?.isCancelled == true)
                #expect(!harness.lines(of: "a").contains("+a"))
                await cluster.close()
            }
        }

        /// Adds others when the first child has ended, in the program.
        private final class Adder: GroupOperation, @unchecked Sendable {
            private let first: AOperation
            private let later: [AOperation]

            init(_ later: [AOperation]) {
                self.later = later
                first = AOperationBlock { $0() }
                super.init([first])
            }

            override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
                guard operation === first else { return }
                for next in later { addOperation(next) }
            }
        }

        /// Operations with conditions made of others, by their names.
        private static func composed(_ directory: String) -> [AOperation] {
            func emit(_ name: String, failures: Int? = nil) -> Emit {
                let emit = Emit(name, log: "\(directory)/\(name)", failures: failures)
                emit.name = name
                return emit
            }
            @Sendable func good() -> Wants { Wants { Emit("good", log: "\(directory)/good") } }
            @Sendable func bad() -> Wants { Wants { Emit("bad", log: "\(directory)/bad", failures: 9) } }
            let block = Wants { AOperationBlock { finish in finish() } }
            return [
                emit("direct").conditions(good()), emit("and").conditions(AndCondition(good(), block)),
                emit("andBad").conditions(AndCondition(good(), bad())), emit("or").conditions(OrCondition(bad(), block)),
                emit("orBad").conditions(OrCondition(bad(), bad())), emit("not").conditions(NegatedCondition(bad())),
                emit("notGood").conditions(NegatedCondition(block)), emit("ignored").conditions(IgnoredCondition(bad())),
                emit("silent").conditions(AndCondition(SilentCondition(bad()), block)),
            ]
        }

        private static func text(_ operation: AOperation) -> String {
            let errors = operation.publishedErrors.map { CallbackLog.text($0) }
            return "\(operation.name ?? ""): \(operation.isCancelled ? "cancelled" : errors.joined(separator: "; "))"
        }

        @Test(arguments: [false, true])
        func insideOfOthers_andOfWhatIsAdded_theyDecideAsOnAQueue(isAdded: Bool) async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let folders = try harness.folders("here", "there")
                let (here, there) = (Self.composed(folders[0]), Self.composed(folders[1]))
                _ = await (isAdded ? Adder(here) : GroupOperation(here)).result(on: AOperationQueue())
                let cluster = try await harness.trialCluster()
                let root = isAdded ? Adder(there) : GroupOperation(there)
                _ = await root.result(on: cluster)
                #expect(there.map(Self.text) == here.map(Self.text))
                #expect(
                    there.filter { $0.publishedErrors.isEmpty && !$0.isCancelled }.compactMap(\.name) == [
                        "direct", "and", "or", "not", "silent",
                    ])
                #expect(root.operations.count == there.count + (isAdded ? 1 : 0))
                let shown = try await harness.aop("show", "last").text
                #expect(shown.contains("?Emit.0.1"), "\(shown)")
                await cluster.close()
            }
        }

        private final class Counter: Sendable {
            private let number = Mutex(0)
            func count() { number.withLock { $0 += 1 } }
            var value: Int { number.withLock { $0 } }
        }
    }
}
