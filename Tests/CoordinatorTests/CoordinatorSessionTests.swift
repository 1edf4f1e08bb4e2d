import Foundation
import Testing
import Wire

@testable import Coordinator

/// Who is let in, and what the coordinator makes of bad input.
@Suite struct CoordinatorSessionTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    init() throws { temporary = try TemporaryDirectory() }

    @Test func garbage_doesNotDisturbOthers() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let stranger = try coordinator.peer()
            var random = SystemRandomNumberGenerator()
            for size in 0..<200 {
                try stranger.send(frames: [Buffer((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })])
                try stranger.send(frames: [Buffer([10, 0]), Buffer([1]), Buffer([2]), Buffer([3])])
            }
            // Also from one that was welcomed.
            for size in 1..<200 { try client.send(frames: [Buffer([UInt8](repeating: 0xff, count: size))]) }
            #expect(try client.submit(.group([])).count == 10)
        }
    }

    @Test func connectionsBeyondTheLimit_areRefused_untilOneGoes() async throws {
        try await TestCoordinator.run(in: path) {
            $0.connectionsMax = 1
        } _: { coordinator in
            let first = try coordinator.peer()
            _ = try first.attach(.client, incarnation: 1)
            let second = try coordinator.peer()
            try second.hello(.client, incarnation: 2)
            let refusal = try second.expect { if case .refusal(let refusal) = $0.body { refusal } else { nil } }
            #expect(refusal.code == .limit && !refusal.isFinal)
            #expect(refusal.message.hasPrefix("1 connections are open; the limit is 1 (connections)"))
        }
    }

    @Test func messageBeforeHello_isAnsweredWithHelloWanted() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let peer = try coordinator.peer()
            try peer.send(.with { $0.heartbeat.sentAt = 1 })
            try peer.expect { if case .helloWanted = $0.body { () } else { nil } }
        }
    }

    @Test func heartbeat_isAnsweredWithWhatItCarried() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let peer = try coordinator.peer()
            _ = try peer.attach(.supervisor, incarnation: 1)
            try peer.send(.with { $0.heartbeat.sentAt = 12345 })
            #expect(try peer.expect { if case .heartbeatAnswer(let answer) = $0.body { answer.sentAt } else { nil } } == 12345)
        }
    }

    /// One heartbeat that tells another time may have been on its way for long; two in a row come from another clock.
    @Test func clockOfAWorkersHost_isShownAsFarAsTwoHeartbeatsTellIt() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            func offset(afterBeating ahead: Int64) throws -> Int64? {
                try worker.send(
                    .with {
                        $0.heartbeat.sentAt = 1
                        $0.heartbeat.accepting = true
                        $0.heartbeat.clock = WallClock.milliseconds() + ahead
                    })
                try worker.expect { if case .heartbeatAnswer = $0.body { () } else { nil } }
                try client.send(
                    .with {
                        $0.request.id = 7
                        $0.request.workers = WireListWorkers()
                    })
                let view = try client.expect { if case .response(let response) = $0.body { response.workers.workers.first } else { nil } }
                return view.hasClockOffset ? view.clockOffset : nil
            }
            let (ahead, agrees, behind) =
                (540_000...600_000, -60_000...60_000, -660_000...(-600_000)) as (ClosedRange<Int64>, ClosedRange<Int64>, ClosedRange<Int64>)
            #expect(try offset(afterBeating: 600_000) == nil)
            #expect(ahead.contains(try #require(try offset(afterBeating: 600_000))))
            #expect(agrees.contains(try #require(try offset(afterBeating: 0))))
            #expect(agrees.contains(try #require(try offset(afterBeating: -600_000))))
            #expect(behind.contains(try #require(try offset(afterBeating: -600_000))))
        }
    }

    @Test(arguments: [WireRole.executor, .client, .supervisor])
    func secondHelloOfAProcess_supersedesTheFirst(role: WireRole) async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let first = try coordinator.peer()
            _ = try first.attach(role, incarnation: 1)
            let second = try coordinator.peer()
            _ = try second.attach(role, incarnation: 1)
            let code = try first.expect { if case .refusal(let refusal) = $0.body { refusal.code } else { nil } }
            #expect(code == .superseded)
            try second.send(
                .with {
                    $0.heartbeat.sentAt = 2
                    $0.heartbeat.accepting = true
                })
            try second.expect { if case .heartbeatAnswer = $0.body { () } else { nil } }
            try first.send(.with { $0.heartbeat.sentAt = 3 })
            try first.expect { if case .helloWanted = $0.body { () } else { nil } }
        }
    }

    private func refusal(_ coordinator: TestCoordinator, _ hello: (FakePeer) throws -> Void) throws -> WireRefusal {
        let peer = try coordinator.peer()
        try hello(peer)
        return try peer.expect { if case .refusal(let refusal) = $0.body { refusal } else { nil } }
    }

    @Test func wrongHellos_areRefusedInClearWords() async throws {
        let cookie = [UInt8](repeating: 7, count: 32)
        try await TestCoordinator.run(in: path, { $0.cookie = cookie }) { coordinator in
            let version = try refusal(coordinator) { try $0.hello(.client, incarnation: 1, cookie: cookie, major: 2) }
            #expect(version.code == .version)
            #expect(
                version.message == """
                    this coordinator (aop \(ProductVersion.current)) speaks protocol 1, the peer (aop \
                    \(ProductVersion.current)) speaks 2; run the same release on both sides
                    """)
            for wrong in [[], [UInt8](repeating: 6, count: 32)] {
                let refused = try refusal(coordinator) { try $0.hello(.executor, incarnation: 1, cookie: wrong) }
                #expect(refused.code == .cookie)
            }
            #expect(try refusal(coordinator) { try $0.hello(.unspecified, incarnation: 1, cookie: cookie) }.code == .malformed)
            #expect(try refusal(coordinator) { try $0.hello(.client, incarnation: 0, cookie: cookie) }.code == .malformed)
            let slots = try refusal(coordinator) { try $0.hello(.executor, incarnation: 1, cookie: cookie, slots: 0) }
            #expect(slots.code == .malformed && slots.message.contains("0 slots"))
            let peer = try coordinator.peer()
            try peer.hello(.client, incarnation: 1, cookie: cookie)
            try peer.expect { if case .welcome = $0.body { () } else { nil } }
        }
    }

    @Test func malformedRequests_areAnswered() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            func code(_ body: WireRequest.OneOf_Body) throws -> WireRequestFailed.Code? {
                guard case .failed(let failed) = try client.request(.random(in: 1 ... .max), body).body else { return nil }
                #expect(!failed.message.isEmpty)
                return failed.code
            }
            #expect(try code(.submit(.with { $0.graph = .group([]) })) == .malformed)
            #expect(try code(.submit(.with { $0.key = "k" })) == .malformed)
            #expect(
                try code(
                    .submit(
                        .with {
                            $0.key = "k"; $0.graph = .group([.noop("a", receives: [99])])
                        })) == .malformed)
            #expect(try code(.show(.with { $0.submission = "none" })) == .notFound)
            #expect(try code(.show(.with { $0.submission = String(repeating: "x", count: 1000) })) == .malformed)
            #expect(try code(.output(.with { $0.after = .max })) == .malformed)
        }
    }

    @Test func lostConnectionOfAnExecutor_isSeenAtOnce_andItsEndIsAcknowledged() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let supervisor = try coordinator.peer()
            _ = try supervisor.attach(.supervisor, incarnation: 10)
            let first = try coordinator.peer()
            _ = try first.attach(.executor, incarnation: 1, slots: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            _ = try client.submit(.group([.noop("a")]))
            let lost = try first.assignments(1)[0]
            first.close()
            let second = try coordinator.peer()
            _ = try second.attach(.executor, incarnation: 3, slots: 1)
            try supervisor.send(
                .with {
                    $0.executorEnded = .with {
                        $0.executorIncarnation = 1
                        $0.text = "signal 9"
                    }
                })
            try supervisor.expect { message in
                if case .acknowledgement(let list) = message.body, list.endedExecutors == [1] { () } else { nil }
            }
            let again = try second.assignments(1)[0]
            #expect(again.unit == lost.unit && again.attempt > lost.attempt && again.attemptNumber == 2)
        }
    }

    @Test func goodbyeBeforeTheConnectionsEnd_isHeard() async throws {
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            for round in 1...20 as ClosedRange<UInt64> {
                let leaving = try coordinator.peer()
                _ = try leaving.attach(.executor, incarnation: 100 + round, slots: 1)
                _ = try client.submit(.group([.noop("a")]), key: "\(round)")
                let given = try leaving.assignments(1)[0]
                try leaving.send(.with { $0.goodbye = WireGoodbye() })
                leaving.close(lingerMilliseconds: 1000)
                // Its unit moves at once, not when its lease is over.
                let next = try coordinator.peer()
                _ = try next.attach(.executor, incarnation: 200 + round, slots: 1)
                let again = try next.assignments(1)[0]
                #expect(again.unit == given.unit)
                try next.succeed(again)
                try next.send(.with { $0.goodbye = WireGoodbye() })
                next.close(lingerMilliseconds: 1000)
            }
        }
    }

    @Test func farewell_isSaidAtTheEnd() async throws {
        let peers = Collector<String>()
        let waiting = OneShot<Void>()
        async let listener: Void = onThread {
            _ = try peers.wait { $0.contains("farewell") }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            let path = path
            let endpoints = OneShot<TestCoordinator>()
            group.addTask {
                try await TestCoordinator.run(in: path) { coordinator in
                    endpoints.set(coordinator)
                    // Ends as soon as the other peer is welcomed.
                    let done = WorkQueue<Void>()
                    Task {
                        await waiting.value
                        done.post(())
                    }
                    _ = done.take()
                }
            }
            group.addTask {
                let coordinator = await endpoints.value
                try await onThread {
                    let peer = try coordinator.peer()
                    _ = try peer.attach(.client, incarnation: 5)
                    waiting.set(())
                    try peer.expect { if case .farewell = $0.body { () } else { nil } }
                    peers.add("farewell")
                }
            }
            try await group.waitForAll()
        }
        try await listener
    }
}
