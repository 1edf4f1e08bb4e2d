import Scheduling
import Testing
import Wire

@testable import Coordinator

/// Whose elements are taken, and under which attempt they are kept.
@Suite struct AttemptLabelTests {
    private static let graph = Graph(
        name: "",
        nodes: [
            Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: false))),
            Node(id: "a", parent: 0, kind: .operation(OperationNode(type: "send", parameters: 0))),
        ], parameters: [Array("{}".utf8)])

    private func hello(_ incarnation: UInt64, connection: UInt64, holding held: [WireHeldUnit] = []) -> WireHello {
        .with {
            $0.protocolMajor = ProtocolVersion.major
            $0.role = .executor
            $0.incarnation = incarnation
            $0.connection = connection
            $0.host = "h\(incarnation)"
            $0.executor = .with {
                $0.slots = 1
                $0.operations = [
                    .with {
                        $0.name = "send"
                        $0.sent = .init()
                    }
                ]
                $0.units = held
            }
        }
    }

    private func step(_ coordinator: MemoryCoordinator, at boot: Int64) -> [WireCoordinatorMessage] {
        coordinator.step(at: Instant(boot: boot, wall: boot))
        return coordinator.sync().compactMap { if case .message(let message) = $0.content { message } else { nil } }
    }

    private func assignment(_ messages: [WireCoordinatorMessage]) -> WireAssignment? {
        messages.compactMap { if case .dispatch(let dispatch)? = $0.body { dispatch.assignments.first } else { nil } }.first
    }

    /// A newer attempt was given back, and none has followed: what the older one sends would be kept as that one's.
    @Test func elementsOfAnAttemptThatWasGivenUp_areNotTaken_whenItsExecutorComesBack() throws {
        let coordinator = MemoryCoordinator(at: Instant(boot: 0, wall: 0), incarnation: 1, hearing: .speakers)
        _ = try coordinator.attach(hello(11, connection: 1))
        _ = coordinator.ask(.submit(key: "k", name: "", graph: ExaminedGraph(Self.graph), waitForWorkers: true), of: coordinator.connect())
        let first = try #require(assignment(step(coordinator, at: 1)))
        // The executor is not heard; another one gets the operation, and gives it back.
        for boot in stride(from: Int64(1_000), through: 100_000, by: 1_000) { _ = step(coordinator, at: boot) }
        let second = try coordinator.attach(hello(12, connection: 1))
        let newer = try #require(assignment(step(coordinator, at: 100_001)))
        #expect(newer.attemptNumber == 2)
        _ = coordinator.ask(.pause(submission: first.submission, path: ""), of: coordinator.connect())
        let report = WireUnitReport.with {
            $0.unit = newer.unit
            $0.attempt = newer.attempt
            $0.released = .init()
        }
        _ = coordinator.receive(.with { $0.reports.reports = [report] }, from: second, at: Instant(boot: 100_002, wall: 100_002))
        #expect(assignment(step(coordinator, at: 100_002)) == nil)
        // The first one is back, and its body goes on.
        let held = WireHeldUnit.with {
            $0.unit = first.unit
            $0.attempt = first.attempt
            $0.state = .running
        }
        let again = try coordinator.attach(hello(11, connection: 2, holding: [held]))
        _ = step(coordinator, at: 100_003)
        let run = WireElementRun.with {
            $0.unit = first.unit
            $0.attempt = first.attempt
            $0.elements = [.with { $0.bytes = .init("stale".utf8) }]
        }
        _ = coordinator.receive(.with { $0.elements.runs = [run] }, from: again, at: Instant(boot: 100_004, wall: 100_004))
        let answers = step(coordinator, at: 100_004)
        #expect(!answers.contains { if case .elementReceipts? = $0.body { true } else { false } })
        #expect(coordinator.spooledBytes == 0)
    }
}
