import Foundation
import Testing

@testable import Wire

/// What would cost gigabytes to decode is refused by its count.
@Suite struct MessageScanTests {
    private func varint(_ value: Int) -> [UInt8] {
        var (rest, bytes) = (value, [UInt8]())
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private func field(_ number: Int, _ content: [UInt8]) -> [UInt8] { varint(number << 3 | 2) + varint(content.count) + content }

    /// Empty nodes: two bytes each.
    private func graph(nodes: Int) -> [UInt8] { [UInt8]([[UInt8]](repeating: [0x12, 0], count: nodes).joined()) }

    @Test(arguments: [2, 11]) func graphOfTooManyNodes_isRefusedBeforeItIsDecoded(request: Int) throws {
        let inside = request == 2 ? 2 : 1
        let frame = field(8, [0x09, 1, 2, 3, 4, 5, 6, 7, 8] + field(request, field(inside, graph(nodes: Limits.graphNodes + 1))))
        #expect(throws: WireError.tooManyNodes(Limits.graphNodes + 1)) { try WirePeerMessage(frames: [Buffer(frame)]) }
        #expect("\(WireError.tooManyNodes(1_000_002))" == "1000002 nodes in one graph; the limit is 1000001 with its root (graphNodes)")
    }

    @Test func rootAndAMillionBelowIt_areAGraph_andOneMoreIsNot() throws {
        try graph(nodes: 1 + 1_000_000).withUnsafeBytes { try MessageScan.checkGraph($0) }
        #expect(throws: WireError.tooManyNodes(1_000_002)) {
            try graph(nodes: 2 + 1_000_000).withUnsafeBytes { try MessageScan.checkGraph($0) }
        }
    }

    @Test func nodes_areCountedAsTheyAreDecoded() throws {
        let graph = WireGraph.with {
            $0.name = "g"
            $0.nodes = (0..<300).map { number in .with { $0.id = "n\(number)" } }
            $0.parameters = [Data(repeating: 0x12, count: 500)]
        }
        let bytes: [UInt8] = try graph.serializedBytes()
        #expect(bytes.withUnsafeBytes { MessageScan.count([2], in: $0) } == 300)
        let message = WirePeerMessage.with {
            $0.request = .with {
                $0.submit = .with {
                    $0.key = "k"; $0.graph = graph
                }
            }
        }
        let frame: [UInt8] = try message.serializedBytes()
        #expect(frame.withUnsafeBytes { MessageScan.count([8, 2, 2, 2], in: $0) } == 300)
        #expect(frame.withUnsafeBytes { MessageScan.count([8, 11, 1, 2], in: $0) } == 0)
        for cut in stride(from: 0, to: frame.count, by: 37) {
            _ = Array(frame[..<cut]).withUnsafeBytes { MessageScan.count([8, 2, 2, 2], in: $0) }
        }
    }
}
