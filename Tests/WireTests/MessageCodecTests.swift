import Foundation
import SwiftProtobuf
import Testing
import Wire

@Suite struct MessageCodecTests {
    static let dispatch = WireCoordinatorMessage.with {
        $0.dispatch = .with {
            $0.assignments = [
                .with {
                    $0.unit = 17
                    $0.attempt = 1 << 32 | 5
                    $0.submission = "k3v9"
                    $0.path = "build/compile"
                    $0.operation = "shell"
                    $0.parameters = Data(#"{"run":"true"}"#.utf8)
                    $0.inputs = [
                        .with {
                            $0.value = .with {
                                $0.encoding = .text; $0.inline = Data("héllo".utf8)
                            }
                        }
                    ]
                }
            ]
        }
    }
    static let reports = WirePeerMessage.with {
        $0.reports = .with {
            $0.reports = [
                .with {
                    $0.unit = 17; $0.attempt = 9; $0.started = .with { $0.startedAt = 1_700_000_000_000 }
                },
                .with {
                    $0.unit = 18
                    $0.ended = .with {
                        $0.failure = .with {
                            $0.errors = [
                                .with {
                                    $0.code = .exit; $0.exitCode = 3; $0.message = "exited with 3"
                                }
                            ]
                        }
                    }
                },
            ]
        }
    }

    @Test func messages_comeBackAsTheyWere() throws {
        #expect(try WireCoordinatorMessage(frames: Self.dispatch.frames()) == Self.dispatch)
        #expect(try WirePeerMessage(frames: Self.reports.frames()) == Self.reports)
    }

    /// Lengths of one, two and three bytes.
    @Test(arguments: [0, 1, 2, 3_000]) func batches_areTheBytesOfTheProtocol(count: Int) throws {
        let assignments = (0..<count).map { number in
            var assignment = Self.dispatch.dispatch.assignments[0]
            assignment.unit = UInt64(number)
            assignment.parameters = Data(repeating: 7, count: number % 300)
            return assignment
        }
        let dispatch = WireCoordinatorMessage.with { $0.dispatch = .with { $0.assignments = assignments } }
        #expect(try bytes(dispatch.frames()) == dispatch.serializedBytes())
        let some = Array(repeating: Self.reports.reports.reports, count: count).flatMap(\.self)
        let reports = WirePeerMessage.with { $0.reports = .with { $0.reports = some } }
        #expect(try bytes(reports.frames()) == reports.serializedBytes())
        let events = WireCoordinatorMessage.with {
            $0.events = .with {
                $0.submission = "k3v9"
                $0.view.id = "k3v9"
                $0.missed = true
                $0.events = (0..<count).map { number in
                    .with {
                        $0.unit = UInt32(number)
                        $0.path = "build/\(number)"
                    }
                }
            }
        }
        let read = try WireCoordinatorMessage(frames: events.frames())
        #expect(read == events)
    }

    private func bytes(_ frames: [Buffer]) -> [UInt8] { frames.flatMap { $0.withUnsafeBytes { Array($0) } } }

    @Test func aChunk_carriesItsBytesBesideIt() throws {
        let chunk = WireBlobChunk.with {
            $0.digest = Data(repeating: 1, count: 32); $0.size = 5
        }
        let bytes = Buffer(Array("hello".utf8))
        let frames = try WirePeerMessage.with { $0.blobChunk = chunk }.frames(attachment: bytes)
        #expect(frames.count == 2)
        #expect(frames[1] === bytes)
        #expect(try WirePeerMessage(frames: frames) == .with { $0.blobChunk = chunk })
        #expect(try WireCoordinatorMessage.with { $0.blobChunk = .with { $0.missing = true } }.frames().count == 1)
    }

    @Test func garbage_isAnErrorThatSaysWhat() throws {
        let hello = Buffer(try WirePeerMessage.with { $0.hello = .init() }.serializedBytes() as [UInt8])
        let chunk = Buffer(try WirePeerMessage.with { $0.blobChunk = .with { $0.size = 1 } }.serializedBytes() as [UInt8])
        let missing = Buffer(try WirePeerMessage.with { $0.blobChunk = .with { $0.missing = true } }.serializedBytes() as [UInt8])
        let one = Buffer([0])
        #expect(throws: WireError.empty) { try WirePeerMessage(frames: []) }
        #expect(throws: WireError.unknownBody) { try WirePeerMessage(frames: [Buffer([UInt8]())]) }
        // Field 99, unknown to this version.
        #expect(throws: WireError.unknownBody) { try WirePeerMessage(frames: [Buffer([0x9a, 0x06, 0x00])]) }
        #expect(throws: WireError.tooManyFrames(3)) { try WirePeerMessage(frames: [hello, one, one]) }
        #expect(throws: WireError.attachmentUnexpected) { try WirePeerMessage(frames: [hello, one]) }
        #expect(throws: WireError.attachmentMissing) { try WirePeerMessage(frames: [chunk]) }
        #expect(throws: WireError.attachmentUnexpected) { try WirePeerMessage(frames: [missing, one]) }
        #expect(throws: WireError.tooLarge(what: "a blob chunk", bytes: 262_145, limit: "blobChunkBytes", limitBytes: 262_144)) {
            try WirePeerMessage(frames: [chunk, Buffer([UInt8](repeating: 0, count: Limits.blobChunkBytes + 1))])
        }
        #expect(throws: WireError.tooLarge(what: "a message", bytes: 1_048_577, limit: "helloBytes", limitBytes: 1_048_576)) {
            try WirePeerMessage(frames: [Buffer([UInt8](repeating: 0, count: Limits.helloBytes + 1))], limitBytes: Limits.helloBytes)
        }
        #expect(throws: WireError.self) { try WirePeerMessage(frames: [Buffer([0xff, 0xff, 0xff])]) }
        #expect(throws: WireError.self) { try WireCoordinatorMessage(frames: [Buffer([0x0a, 0x7f, 0x01])]) }
    }

    @Test func errors_nameTheLimitAndTheValue() {
        #expect(
            WireError.tooLarge(what: "a message", bytes: 5, limit: "messageBytes", limitBytes: 4).description
                == "a message of 5 bytes is larger than Limits.messageBytes (4 bytes)")
        #expect(WireError.tooManyFrames(3).description == "a message of 3 or more frames; the protocol has at most 2")
    }

    @Test func aMessageAboveTheLimit_isNotEncoded() {
        let large = WireCoordinatorMessage.with {
            $0.dispatch = .with { $0.assignments = [.with { $0.parameters = Data(count: Limits.messageBytes + 1) }] }
        }
        #expect(throws: WireError.self) { try large.frames() }
    }

    @Test(arguments: 0..<20) func randomBytes_areDecodedOrRefused(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let templates: [[UInt8]] = [
            try Self.dispatch.serializedBytes(), try Self.reports.serializedBytes(),
            try WirePeerMessage.with {
                $0.request = .with { $0.submit = .with { $0.graph = .with { $0.nodes = [.with { $0.id = "a" }] } } }
            }.serializedBytes(),
        ]
        for _ in 0..<500 {
            var bytes: [UInt8]
            if Bool.random(using: &random), let template = templates.randomElement(using: &random) {
                bytes = template
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            } else {
                bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            let frames = [Buffer(bytes)]
            do throws(WireError) { _ = try WirePeerMessage(frames: frames) } catch { #expect(!error.description.isEmpty, "seed \(seed)") }
            do throws(WireError) { _ = try WireCoordinatorMessage(frames: frames) } catch {
                #expect(!error.description.isEmpty, "seed \(seed)")
            }
        }
    }

    /// `Received` in `ReceivedList` in `Received` …, as wire bytes: `levels` of each.
    static func nested(_ levels: Int) -> [UInt8] {
        func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
            var length: [UInt8] = []
            var rest = content.count
            repeat {
                length.append(UInt8(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
                rest >>= 7
            } while rest > 0
            // Reversed, because the whole is built from its end.
            return content + (([number << 3 | 2] + length) as [UInt8]).reversed()
        }
        var bytes: [UInt8] = []
        for _ in 0..<levels { bytes = field(3, field(1, bytes)) }
        // Assignment.inputs, Dispatch.assignments, CoordinatorMessage.dispatch
        bytes = field(12, bytes)
        bytes = field(1, bytes)
        bytes = field(4, bytes)
        return bytes.reversed()
    }

    /// The deepest value a graph can have is read, and a deeper one refused, on a stack of the size that ``Limits`` names.
    @Test(arguments: [(1000, true), (1100, false), (100_000, false)]) func deepNesting_isReadUpToTheLimit(levels: Int, isRead: Bool) throws
    {
        let bytes = Self.nested(levels)
        let log = EventLog<Bool>()
        let thread = Thread {
            do throws(WireError) {
                let message = try WireCoordinatorMessage(frames: [Buffer(bytes)])
                log.append(try message.frames()[0].count == bytes.count)
            } catch {
                log.append(false)
            }
        }
        thread.stackSize = Limits.decodingStackBytes
        thread.start()
        #expect(try log.next("decoding") { $0 } == isRead)
    }
}
