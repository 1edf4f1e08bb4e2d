import Foundation
import Wire

@testable import Coordinator

/// A peer by hand: one DEALER socket, used on the thread that made it. What was received and not asked for is kept.
final class FakePeer {
    private let socket: DealerSocket
    private var poller = Poller()
    private let token: Poller.Token
    private var inbox: [(message: WireCoordinatorMessage, attachment: Buffer?)] = []

    init(_ endpoint: Endpoint, _ context: ZMQContext, key: PeerKey? = nil) throws {
        socket = try DealerSocket(context: context, key: key)
        try socket.connect(endpoint)
        token = poller.add(socket)
    }

    func close(lingerMilliseconds: Int = 0) { socket.close(lingerMilliseconds: lingerMilliseconds) }

    // MARK: Sending

    func send(frames: [Buffer]) throws {
        let deadline = BootClock.milliseconds() + 60_000
        poller.watchWritable(token, true)
        defer { poller.watchWritable(token, false) }
        while try socket.send(frames) != .sent {
            guard BootClock.milliseconds() < deadline else { throw Timeout(what: "sending") }
            _ = try poller.wait(until: deadline)
        }
    }

    func send(_ message: WirePeerMessage, attachment: Buffer? = nil) throws {
        try send(frames: try message.frames(attachment: attachment))
    }

    func hello(
        _ role: WireRole, incarnation: UInt64, cookie: [UInt8] = [], operations: [String] = ["noop"], slots: UInt32 = 2,
        held: [WireHeldUnit] = [], labels: [String] = [], isSubmitter: Bool = false, major: UInt32 = ProtocolVersion.major
    ) throws {
        try send(
            .with {
                $0.hello = .with {
                    $0.protocolMajor = major
                    $0.role = role
                    $0.productVersion = ProductVersion.current
                    $0.cookie = Data(cookie)
                    $0.host = "here"
                    $0.pid = 7
                    $0.incarnation = incarnation
                    guard role == .executor else { return }
                    $0.executor = .with {
                        $0.slots = slots
                        $0.operations = operations.map { name in .with { $0.name = name } }
                        $0.units = held
                        $0.labels = labels
                        $0.submitter = isSubmitter
                    }
                }
            })
    }

    /// Says hello and waits for the welcome.
    func attach(
        _ role: WireRole, incarnation: UInt64, operations: [String] = ["noop"], slots: UInt32 = 2,
        held: [WireHeldUnit] = []
    ) throws -> WireWelcome {
        try hello(role, incarnation: incarnation, operations: operations, slots: slots, held: held)
        return try expect { if case .welcome(let welcome) = $0.body { welcome } else { nil } }
    }

    func report(_ unit: UInt64, _ attempt: UInt64, _ body: WireUnitReport.OneOf_Body) throws {
        try send(
            .with {
                $0.reports.reports = [
                    .with {
                        $0.unit = unit
                        $0.attempt = attempt
                        $0.body = body
                    }
                ]
            })
    }

    func request(_ id: UInt64, _ body: WireRequest.OneOf_Body) throws -> WireResponse {
        try send(
            .with {
                $0.request = .with {
                    $0.id = id
                    $0.body = body
                }
            })
        return try expect { message in
            if case .response(let response) = message.body, response.request == id { response } else { nil }
        }
    }

    // MARK: Receiving

    /// The first message, of those kept and those to come, of which `extract` makes something. At most a minute.
    func expect<Value>(_ extract: (WireCoordinatorMessage) -> Value?) throws -> Value {
        try expectAttached { message, _ in extract(message) }
    }

    func expectAttached<Value>(_ extract: (WireCoordinatorMessage, Buffer?) -> Value?) throws -> Value {
        let deadline = BootClock.milliseconds() + 60_000
        var looked = 0
        while true {
            while looked < inbox.count {
                if let value = extract(inbox[looked].message, inbox[looked].attachment) {
                    inbox.remove(at: looked)
                    return value
                }
                looked += 1
            }
            guard try fill(until: deadline) else {
                throw Timeout(what: "waiting for a message of the coordinator; there are \(inbox.map { "\($0.message)".prefix(60) })")
            }
        }
    }

    /// Waits for messages. False: the time is over.
    private func fill(until deadline: Int64) throws -> Bool {
        while BootClock.milliseconds() < deadline {
            var count = 0
            while let frames = try socket.receive() {
                inbox.append((try WireCoordinatorMessage(frames: frames), frames.count > 1 ? frames[1] : nil))
                count += 1
            }
            if count > 0 { return true }
            _ = try poller.wait(until: deadline)
        }
        return false
    }

    /// Fetches a large value from the coordinator.
    func fetch(_ reference: WireBlobReference) throws -> Data {
        var fetch = BlobFetch(reference: reference)
        var data = Data()
        for request in fetch.start() { try send(.with { $0.blobRequest = request }) }
        while true {
            let (chunk, bytes) = try expectAttached { message, bytes in
                if case .blobChunk(let chunk) = message.body { (chunk, bytes) } else { nil }
            }
            for step in fetch.receive(chunk, bytes) {
                switch step {
                case .requests(let requests): for request in requests { try send(.with { $0.blobRequest = request }) }
                case .bytes(_, let bytes): data += bytes.data
                case .finished: return data
                case .failed(let reason): throw Timeout(what: reason)
                }
            }
        }
    }

    /// Answers one request of the coordinator for a part of `value`.
    func giveOnePart(of value: Data) throws {
        let request = try expect { if case .blobRequest(let request) = $0.body { request } else { nil } }
        guard let range = request.range(inValueOf: value.count) else { throw Timeout(what: "asked beyond the end") }
        try send(
            .with {
                $0.blobChunk = .with {
                    $0.digest = request.digest
                    $0.offset = request.offset
                    $0.size = UInt64(value.count)
                }
            },
            attachment: Buffer(Data(value[range])))
    }

    /// Answers the coordinator's requests until the value was given whole.
    func give(_ value: Data) throws {
        for _ in stride(from: 0, to: max(1, value.count), by: Limits.blobChunkBytes) { try giveOnePart(of: value) }
    }
}

extension FakePeer {
    func assignments(_ count: Int) throws -> [WireAssignment] {
        var all: [WireAssignment] = []
        while all.count < count {
            all += try expect { if case .dispatch(let dispatch) = $0.body { dispatch.assignments } else { nil } }
        }
        return all
    }

    func acknowledgement(of unit: UInt64) throws {
        try expect { message in
            if case .acknowledgement(let list) = message.body, list.units.contains(where: { $0.unit == unit }) { () } else { nil }
        }
    }

    func succeed(_ assignment: WireAssignment, _ value: WireValue = .text("ok")) throws {
        try end(assignment, .success(value))
        try acknowledgement(of: assignment.unit)
    }

    /// Reports the end, and waits for nothing.
    func end(_ assignment: WireAssignment, _ outcome: WireAttemptEnd.OneOf_Outcome) throws {
        try report(
            assignment.unit, assignment.attempt,
            .ended(
                .with {
                    $0.startedAt = 1
                    $0.endedAt = 2
                    $0.outcome = outcome
                }))
    }

    func submit(_ graph: WireGraph, key: String = "k") throws -> String {
        let response = try request(
            UInt64.random(in: 1 ... .max),
            .submit(
                .with {
                    $0.key = key
                    $0.graph = graph
                }))
        guard case .submitted(let submitted) = response.body else { throw Timeout(what: "not admitted: \(response)") }
        return submitted.id
    }

    func view(_ id: String) throws -> WireSubmissionView {
        let response = try request(UInt64.random(in: 1 ... .max), .show(.with { $0.submission = id }))
        guard case .submission(let view) = response.body else { throw Timeout(what: "not shown: \(response)") }
        return view
    }

    func operations(_ id: String) throws -> [WireOperationView] {
        let response = try request(
            UInt64.random(in: 1 ... .max),
            .operations(
                .with {
                    $0.submission = id
                    $0.values = true
                }))
        guard case .operations(let page) = response.body else { throw Timeout(what: "not listed: \(response)") }
        return page.operations
    }
}

extension WireValue {
    static func text(_ text: String) -> WireValue {
        .with {
            $0.encoding = .text
            $0.storage = .inline(Data(text.utf8))
        }
    }

    static func blob(_ bytes: Data) -> WireValue {
        .with {
            $0.encoding = .bytes
            $0.storage = .blob(WireBlobReference(digest: BlobDigest(hashing: bytes), size: UInt64(bytes.count)))
        }
    }
}

extension WireGraph {
    /// A root group with these nodes in it.
    static func group(_ nodes: [WireNode]) -> WireGraph {
        .with {
            $0.name = "test"
            $0.parameters = [Data("{}".utf8)]
            $0.nodes = [.with { $0.kind = .group(WireGroupNode()) }] + nodes
        }
    }
}

extension WireNode {
    static func noop(_ id: String, parent: UInt32 = 0, receives: [UInt32] = []) -> WireNode {
        .with {
            $0.id = id
            $0.parent = parent
            $0.kind = .operation(.with { $0.type = "noop" })
            $0.receives = receives
        }
    }
}
