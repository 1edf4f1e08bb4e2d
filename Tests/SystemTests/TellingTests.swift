import AOperation
import Cluster
import Foundation
import Logging
import Synchronization
import Testing
import TrialOperations
import Wire

extension SystemTests {
    /// What the process that submits is told, and where.
    @Suite struct Telling {
        /// What a logger was told of each operation.
        final class Lines: Sendable {
            let all = Mutex<[(name: String, stage: String)]>([])
            func stages(of name: String) -> [String] { all.withLock { $0.filter { $0.name == name }.map(\.stage) } }
        }

        private struct Collector: LogHandler {
            let lines: Lines
            var logLevel = Logger.Level.debug
            var metadata: Logger.Metadata = [:]

            init(_ lines: Lines) { self.lines = lines }

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let (name, stage) = (event.metadata?["operation"].map { "\($0)" }, event.metadata?["stage"].map { "\($0)" })
                if let name, let stage { lines.all.withLock { $0.append((name, stage)) } }
            }
        }

        @Test func theDebuggersLines_ofAllOperations_areThoseOfAQueueHere() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let tag = UUID().uuidString
                func graph(_ place: String) -> GroupOperation {
                    let (remote, fails) = (Emit("a"), Emit("b", log: "\(harness.directory)/\(place)", failures: 9))
                    let hosted = AOperationBlock { finish in finish() }
                    let group = GroupOperation(remote, fails, hosted)
                    for (name, operation) in ["remote": remote, "fails": fails, "hosted": hosted, "group": group] {
                        operation.name = "\(place) \(name) \(tag)"
                    }
                    return group
                }
                let lines = Lines()
                AOperation.Debugger.logger = Logger(label: "test") { _ in Collector(lines) }
                defer { AOperation.Debugger.logger = nil }
                let (here, there) = (graph("here"), graph("there"))
                here.add(to: AOperationQueue())
                await here.over()
                there.add(to: cluster)
                await there.over()
                for name in ["remote", "fails", "hosted", "group"] {
                    let told = lines.stages(of: "there \(name) \(tag)")
                    #expect(told == lines.stages(of: "here \(name) \(tag)") && told.last == "ended", "\(name): \(told)")
                }
                await cluster.close()
            }
        }

        /// Hears as a delegate.
        final class Companion: AOperationDelegate, Sendable {
            let heard = Mutex<[String]>([])

            func operationDidStart(_ operation: AOperation) { heard.withLock { $0.append("start") } }

            func operationDidFinish(_ operation: AOperation, with errors: [AOperationError]) {
                heard.withLock { $0.append("finish \(errors.map(\.localizedDescription))") }
            }
        }

        private static let mark = DispatchSpecificKey<String>()

        @Test func delegate_isTold_andDidFinishComesOnTheQueueThatWasAskedFor() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let callbacks = DispatchQueue(label: "callbacks")
                callbacks.setSpecific(key: Self.mark, value: "here")
                cluster.callbackQueue = callbacks
                let (fine, bad) = (Emit("fine"), Emit("bad", log: "\(harness.directory)/log", failures: 9))
                let (first, second) = (Companion(), Companion())
                (fine.delegate, bad.delegate) = (first, second)
                let places = Mutex<[String?]>([])
                for operation in [fine, bad] {
                    operation.didFinish { _ in places.withLock { $0.append(DispatchQueue.getSpecific(key: Self.mark)) } }
                }
                GroupOperation(fine, bad).add(to: cluster)
                try await eventually("both are told") { places.withLock { $0.count } == 2 }
                #expect(first.heard.withLock { $0 } == ["start", "finish []"])
                #expect(second.heard.withLock { $0 } == ["start", "finish [\"trial: bad\"]"])
                #expect(places.withLock { $0 } == ["here", "here"])
                await cluster.close()
            }
        }

        @Test func nothingNeedsTheMainQueue() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                cluster.callbackQueue = DispatchQueue(label: "callbacks")
                let gate = DispatchSemaphore(value: 0)
                DispatchQueue.main.async { gate.wait() }
                defer { gate.signal() }
                let (emit, shout) = (Emit("a"), Shout())
                let map = MapOperationBlock<String, String> { received, finish in finish(received ?? .success("")) }
                emit.deliver(to: map).deliver(to: shout)
                let heard = Mutex<[String]>([])
                shout.willFinish { _, finish in
                    heard.withLock { $0.append("will") }
                    finish()
                }
                shout.didFinish { _ in heard.withLock { $0.append("did") } }
                emit.conditions(HostedCode.Allowed(isAllowed: true))
                shout.add(to: cluster)
                try await eventually("it has ended") { heard.withLock { $0 } == ["will", "did"] }
                #expect(shout.outcome?.value == "A")
                await cluster.close()
            }
        }

        /// A sign for each child of a group.
        final class Signs: ResultableOperation<String>, ReceiverOperation, @unchecked Sendable {
            var receivedValue: Result<GroupOutcomes, AOperationError>?

            override func execute() {
                guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
                finish(with: receivedValue.map { $0.map { $0.isSuccess ? "+" : "-" }.joined() })
            }
        }

        @Test func groupDeliversItsOutcomes_andACancelledOneIsNamed() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let group = GroupOperation(Emit("a"), Emit("b", log: "\(harness.directory)/log", failures: 9), AOperationBlock { $0() })
                let count = Signs()
                group.deliver(to: count)
                count.add(to: cluster)
                await count.over()
                #expect(count.outcome?.value == "+-+", "\(count.publishedErrors)")
                let waits = Emit("waits", until: "\(harness.directory)/never")
                let cancelled = GroupOperation(waits)
                cancelled.name = "the cancelled one"
                cancelled.add(to: cluster)
                try await eventually("it runs") { waits.isExecuting }
                cancelled.cancel()
                await cancelled.over()
                #expect(cancelled.outcome?.isCancelled == true && waits.outcome?.isCancelled == true)
                #expect(cancelled.publishedErrors.map(\.publisher) == ["the cancelled one"])
                #expect(cancelled.publishedErrors.first?.localizedDescription.contains("the cancelled one") == true)
                await cluster.close()
            }
        }

        @Test func addingAnyOperationOfANet_addsAllOfIt() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                for place in 0..<3 {
                    let (head, middle, tail) = (Emit("a"), Shout(), Shout())
                    head.deliver(to: middle).deliver(to: tail)
                    cluster.addOperation([head, middle, tail][place])
                    await tail.over()
                    #expect(tail.outcome?.value == middle.outcome?.value.map { $0.uppercased() } && head.outcome?.value == "a")
                }
                await cluster.close()
            }
        }

        @Test func whatBelongsTogetherIsAdded_onceHoweverOften_underAKeyOfItsOwn() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let log = "\(harness.directory)/log"
                let (first, second, unrelated) = (Emit("first", log: log), Emit("second", log: log), Emit("unrelated", log: log))
                second.addDependency(first)
                unrelated.addDependency(second)
                second.add(to: cluster)
                second.add(to: cluster)
                first.add(to: cluster)
                cluster.addOperation(second)
                await second.over()
                await first.over()
                #expect(harness.lines(of: "log") == ["+first", "-first", "+second", "-second"])
                #expect(unrelated.outcome == nil && !unrelated.isExecuting)
                let (one, other) = (try await cluster.submit(Emit("x")), try await cluster.submit(Emit("x")))
                #expect(one.id != other.id && !one.isExisting && !other.isExisting)
                var keys: [String] = []
                for id in [one.id, other.id] { keys.append(try await cluster.connection.show(id).key) }
                #expect(Set(keys).count == 2 && keys.allSatisfy { !$0.isEmpty })
                await cluster.close()
            }
        }
    }
}
