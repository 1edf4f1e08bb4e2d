import Coordinator
import GraphFile
import Scheduling
import Wire

/// What a small cluster says and writes down while it works on a graph that has most of what graphs can have: where inputs begin.
struct Sample: Sendable {
    var facts: [Fact] = []
    /// Of peers, one each.
    var peerMessages: [[UInt8]] = []
    /// The same, in their order, as an input of `peer-session`.
    var session: [UInt8] = []
    /// As inputs of `coordinator-messages`.
    var coordinatorMessages: [[UInt8]] = []

    static let shared = Sample()

    static let hello = WireHello.with {
        $0.protocolMajor = ProtocolVersion.major
        $0.role = .executor
        $0.host = "host"
        $0.pid = 7
        $0.incarnation = 77
        $0.executor = .with {
            $0.slots = 4
            $0.line = 4
            $0.labels = ["fast", "zone=a"]
            $0.conditions = ["command", "fileExists", "reachable"]
            $0.operations = ["shell", "noop", "delay", "http", "readFile", "writeFile"].map { name in .with { $0.name = name } }
            $0.resources = [("cpus", 4 as UInt64), ("memory", 1 << 33)].map { name, amount in
                .with {
                    $0.name = name
                    $0.amount = amount
                }
            }
        }
    }

    private init() {
        var recorder = SampleRecorder()
        recorder.record()
        (facts, peerMessages, session, coordinatorMessages) = recorder.results
    }
}

/// Plays client and executor.
private struct SampleRecorder {
    private final class Kept {
        var facts: [Fact] = []
    }
    private let kept = Kept()
    private var peerMessages: [[UInt8]] = []
    private var records: [[UInt8]] = []
    private var answers: [[UInt8]] = []
    private var now = Instant(boot: 1_000, wall: 1_800_000_000_000)

    var results: ([Fact], [[UInt8]], [UInt8], [[UInt8]]) {
        let cut = stride(from: 0, to: answers.count, by: 12).map { Records.join(Array(answers[$0..<min($0 + 12, answers.count)])) }
        return (kept.facts, peerMessages, Records.join(records), cut + [Records.join(answers)])
    }

    mutating func record() {
        let kept = kept
        let coordinator: MemoryCoordinator
        let (client, executor): (UInt64, UInt64)
        do {
            coordinator = MemoryCoordinator(at: now, incarnation: 1, hearing: .speakers, whenWritten: { kept.facts += $0 })
            client = coordinator.connect()
            executor = try coordinator.attach(Sample.hello)
        } catch { preconditionFailure("the sample cannot be made: \(error)") }
        note(.with { $0.hello = Sample.hello })
        note(.with { $0.welcome = coordinator.welcome(name: "host/0") })
        let graph: WireGraph
        do { graph = try GraphFileLoader.load(text: GraphFiles.everything, file: "all").graph } catch {
            preconditionFailure("the sample's graph is refused: \(error)")
        }
        send(
            request(1) {
                $0.submit = .with {
                    $0.key = "k"; $0.graph = graph; $0.waitForWorkers = true
                }
            }, from: client, 0, coordinator)
        send(
            request(2) {
                $0.follow = .with {
                    $0.submission = "last"; $0.details = true
                }
            }, from: client, 0, coordinator)
        send(request(3) { $0.check = .with { $0.graph = graph } }, from: client, 0, coordinator)
        for round in 0..<60 { turn(round, executor, coordinator) }
        askAll(client, coordinator)
        send(
            request(20) {
                $0.cancel = .with {
                    $0.submission = "last"; $0.reason = "enough"
                }
            }, from: client, 0, coordinator)
        for round in 60..<80 { turn(round, executor, coordinator) }
        send(
            request(21) {
                $0.retry = .with {
                    $0.submission = "last"; $0.key = "again"
                }
            }, from: client, 0, coordinator)
        for round in 80..<100 { turn(round, executor, coordinator) }
        send(.with { $0.goodbye.reason = "done" }, from: executor, 1, coordinator)
    }

    private mutating func askAll(_ client: UInt64, _ coordinator: MemoryCoordinator) {
        let last = "last"
        let bodies: [(inout WireRequest) -> Void] = [
            { $0.list.limit = 5 }, { $0.show.submission = last }, { $0.workers = WireListWorkers() }, { $0.worker.name = "h/0" },
            { $0.workerEvents.after = 0 },
            { $0.resumeWorker.name = "h/0" }, { $0.removeWorker.name = "h/0" }, { $0.locks.key = "" },
            {
                $0.operations = .with {
                    $0.submission = last; $0.values = true
                }
            }, { $0.explain.submission = last },
            {
                $0.pause = .with {
                    $0.submission = last; $0.path = "build"
                }
            },
            {
                $0.resume = .with {
                    $0.submission = last; $0.path = "build"
                }
            },
            {
                $0.output = .with {
                    $0.submission = last; $0.path = "files"
                }
            },
            {
                $0.elements = .with {
                    $0.submission = last; $0.path = "files"
                }
            },
            {
                $0.releaseLock = .with {
                    $0.key = "db"; $0.reason = "stuck"; $0.now = true
                }
            },
        ]
        for (number, body) in bodies.enumerated() { send(request(UInt64(4 + number), body), from: client, 0, coordinator) }
    }

    private var dispatched: [WireAssignment] = []

    /// Time passes, and what was dispatched ends.
    private mutating func turn(_ round: Int, _ executor: UInt64, _ coordinator: MemoryCoordinator) {
        now = Instant(boot: now.boot + 1_500, wall: now.wall + 1_500)
        let work = dispatched
        dispatched = []
        send(
            .with {
                $0.heartbeat = .with {
                    $0.sentAt = UInt64(now.boot); $0.accepting = true
                }
            }, from: executor, 3, coordinator)
        for assignment in work {
            func report(_ fill: (inout WireUnitReport) -> Void) -> WirePeerMessage {
                var report = WireUnitReport.with {
                    $0.unit = assignment.unit
                    $0.attempt = assignment.attempt
                }
                fill(&report)
                return .with { $0.reports.reports = [report] }
            }
            send(report { $0.started.startedAt = now.wall }, from: executor, 1, coordinator)
            send(report { $0.ended = end(of: assignment, round) }, from: executor, 1, coordinator)
        }
    }

    private func end(of assignment: WireAssignment, _ round: Int) -> WireAttemptEnd {
        .with {
            $0.startedAt = now.wall
            $0.endedAt = now.wall + 5
            switch assignment.kind {
            case .decide: $0.elements.elements = [Array("\"a\"".utf8), Array("\"b\"".utf8)].map { .init($0) }
            case .evaluate:
                $0.answers.answers = assignment.conditions.map { question in .with { $0.condition = question.condition } }
            case .execute where round % 7 == 3:
                $0.failure.errors = [
                    .with {
                        $0.code = .exit; $0.exitCode = 75; $0.message = "exit 75"; $0.host = "host"
                    }
                ]
            default:
                $0.success = .with {
                    $0.encoding = .json
                    $0.inline = .init("[\"a\",\"b\"]".utf8)
                }
            }
        }
    }

    private func request(_ id: UInt64, _ body: (inout WireRequest) -> Void) -> WirePeerMessage {
        .with {
            var request = WireRequest.with { $0.id = id }
            body(&request)
            $0.request = request
        }
    }

    private mutating func send(_ message: WirePeerMessage, from peer: UInt64, _ kind: UInt8, _ coordinator: MemoryCoordinator) {
        note(message)
        if let bytes = Self.bytes(message) { records.append([kind] + bytes) }
        var deliveries = coordinator.receive(message, from: peer, at: now)
        coordinator.step(at: now)
        deliveries += coordinator.sync()
        for case .message(let message) in deliveries.map(\.content) {
            if case .dispatch(let dispatch)? = message.body { dispatched += dispatch.assignments }
            note(message)
        }
    }

    private mutating func note(_ message: WirePeerMessage) { if let bytes = Self.bytes(message) { peerMessages.append(bytes) } }

    private mutating func note(_ message: WireCoordinatorMessage) {
        do {
            let bytes: [UInt8] = try message.serializedBytes()
            answers.append([1] + bytes)
        } catch { preconditionFailure("the sample's message cannot be encoded: \(error)") }
    }

    private static func bytes(_ message: WirePeerMessage) -> [UInt8]? {
        do { return try message.serializedBytes() } catch { preconditionFailure("the sample's message cannot be encoded: \(error)") }
    }
}
