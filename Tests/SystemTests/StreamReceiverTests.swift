import AOperation
import Cluster
import Foundation
import Testing
import TrialOperations
import Wire

extension SystemTests {
    /// Operations that consume what others send while these run.
    @Suite(.timeLimit(.minutes(4))) struct StreamReceivers {
        private func drip(_ harness: ProcessHarness, _ count: Int, stopAfter: Int? = nil) -> Drip {
            Drip(.init(count: count, log: "\(harness.directory)/drip", stopAfter: stopAfter, until: "\(harness.directory)/go"))
        }

        private func gather(_ harness: ProcessHarness, first: Int? = nil) -> Gather {
            Gather(.init(log: "\(harness.directory)/gather", first: first))
        }

        private func read(_ harness: ProcessHarness, _ count: Int) async throws {
            try await eventually("\(count) elements were received") {
                harness.lines(of: "gather").count { !$0.hasSuffix("gather") } == count
            }
        }

        /// The process in which an operation runs.
        private func pid(of path: String, _ harness: ProcessHarness) async throws -> Int32 {
            let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)
            let worker = shown["operations"].elements.first { $0["path"].string == path }?["worker"].string
            let workers = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)["workers"].elements
            let pid = workers.first { $0["id"].string == worker }?["pid"].number
            return Int32(try #require(pid, "\(shown)"))
        }

        @Test func aReceiver_readsWhileItsProducerRuns_inAnotherProcess() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster(slots: 1)
                _ = harness.startTrialWorker(slots: 1)
                _ = try await harness.waitForExecutors(2)
                let (drip, gather) = (drip(harness, 5, stopAfter: 3), gather(harness))
                drip.stream(to: gather).add(to: cluster)
                try await read(harness, 3)
                #expect(!drip.isFinished)
                _ = try harness.write("go", "")
                #expect(try await gather.value(on: cluster) == (0..<5).map { "1.\($0)" })
                #expect(drip.outcome?.value == 5)
                await cluster.close()
            }
        }

        @Test(arguments: [false, true]) func producerKilledInTheMiddle_theReceiverEndsWithTheElementsOfOneAttempt(
            together: Bool
        ) async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster(slots: together ? 2 : 1)
                if !together {
                    _ = harness.startTrialWorker(slots: 1)
                    _ = try await harness.waitForExecutors(2)
                }
                let (drip, gather) = (drip(harness, 5, stopAfter: 3), gather(harness))
                drip.stream(to: gather).add(to: cluster)
                try await read(harness, 3)
                kill(try await pid(of: "Drip", harness), SIGKILL)
                _ = try harness.write("go", "")
                #expect(try await gather.value(on: cluster) == (0..<5).map { "2.\($0)" })
                #expect(drip.outcome?.value == 5)
                #expect(
                    harness.lines(of: "gather").filter { !$0.hasSuffix("gather") } == ["1.0", "1.1", "1.2"] + (0..<5).map { "2.\($0)" })
                await cluster.close()
            }
        }

        @Test func aSuccessThatCameEarly_isVoidWithItsProducersAttempt() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster(slots: 1)
                _ = harness.startTrialWorker(slots: 1)
                _ = try await harness.waitForExecutors(2)
                let (drip, gather) = (drip(harness, 5, stopAfter: 3), gather(harness, first: 2))
                drip.stream(to: gather).add(to: cluster)
                try await eventually("the receiver has succeeded") {
                    try await harness.aop("show", "last").text.contains("that counts when `Drip`")
                }
                #expect(!gather.isFinished)
                kill(try await pid(of: "Drip", harness), SIGKILL)
                _ = try harness.write("go", "")
                #expect(try await gather.value(on: cluster) == ["2.0", "2.1"])
                await cluster.close()
            }
        }

        @Test func coordinatorKilledInTheMiddle_nothingIsLostOrDoubled() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker(slots: 2)
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let (drip, gather) = (drip(harness, 300, stopAfter: 150), gather(harness))
                drip.stream(to: gather).add(to: cluster)
                try await read(harness, 150)
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try harness.write("go", "")
                try await eventually("it has sent all") { harness.lines(of: "drip").contains("-drip") }
                _ = try await harness.startCoordinator()
                #expect(try await gather.value(on: cluster) == (0..<300).map { "1.\($0)" })
                #expect(harness.lines(of: "gather").count == 302)
                await cluster.close()
            }
        }

        @Test func inTheOnlySlot_itReadsAfterTheEnd_andAProducersErrorIsThrown() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster(slots: 1)
                let (drip, gather) = (drip(harness, 5), gather(harness))
                drip.stream(to: gather).add(to: cluster)
                #expect(try await gather.value(on: cluster) == (0..<5).map { "1.\($0)" })
                let padded = Drip(.init(count: 1, log: "\(harness.directory)/drip", padding: Limits.partialResultBytes))
                let second = self.gather(harness)
                padded.stream(to: second).add(to: cluster)
                await #expect(throws: AOperationError.self) { _ = try await second.value(on: cluster) }
                #expect(second.errors.first?.publishedError.localizedDescription.contains("(partialResultBytes)") == true)
                await cluster.close()
            }
        }

        /// In this process: reads, and sends on what it has read.
        private final class Relay: AsyncOperation<Int>, StreamReceiver, PartialResultOperation, @unchecked Sendable {
            typealias PartialResult = String
            var receivedElements: ReceivedElements<String>?

            func new() -> Relay { Relay() }

            override func run() async throws -> Int {
                var count = 0
                for try await text in try #require(receivedElements) {
                    count += 1
                    await send("<\(text)>")
                }
                return count
            }
        }

        @Test func streamsGoThroughThisProcess_andBack_alsoWhenTheCoordinatorIsKilledInTheMiddle() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker(slots: 2)
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let (drip, relay, gather) = (drip(harness, 300, stopAfter: 150), Relay(), gather(harness))
                drip.stream(to: relay)
                relay.stream(to: gather).add(to: cluster)
                try await read(harness, 150)
                #expect(!drip.isFinished)
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try harness.write("go", "")
                try await eventually("it has sent all") { harness.lines(of: "drip").contains("-drip") }
                _ = try await harness.startCoordinator()
                #expect(try await gather.value(on: cluster) == (0..<300).map { "<1.\($0)>" })
                #expect(relay.outcome?.value == 300)
                await cluster.close()
            }
        }
    }
}
