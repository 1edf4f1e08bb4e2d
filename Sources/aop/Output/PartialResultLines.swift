import Cluster
import Foundation
import Shapes
import Wire

/// Shows what an operation has sent: an element a line.
struct PartialResultLines {
    let console: Console
    let connection: ClusterConnection
    let reference: OperationReference
    /// Goes on until the operation has ended.
    let follows: Bool

    func show() async throws {
        var id = reference.submission
        var attempt: UInt32 = 0
        var index: UInt64 = 0
        var collected: [JSONValue] = []
        while true {
            let page = try await connection.readPartialResults(
                id, path: reference.path, attempt: attempt, index: index, waits: follows)
            id = page.id
            if page.attempt != attempt {
                if index > 0 {
                    console.note("\(reference.path): attempt \(page.attempt) has begun; what was sent before is void\n")
                    collected = []
                }
                (attempt, index) = (page.attempt, 0)
            }
            for element in page.elements {
                await tellGap(element.index, index)
                index = element.index + 1
                if console.mode == .json { collected.append(.value(element.value)) } else { try await write(element, attempt) }
            }
            await tellGap(page.next, index)
            index = max(index, page.next)
            if page.ended || (page.elements.isEmpty && !follows) { break }
        }
        guard console.mode == .json else { return }
        try await console.writeValue(
            .shape([
                ("id", .string(id)), ("path", .string(reference.path)), ("attempt", .integer(Int64(attempt))),
                ("partialResults", .array(collected)),
            ]), connection: connection)
    }

    private func write(_ element: WireElement, _ attempt: UInt32) async throws {
        guard console.mode == .jsonl else { return try await console.out.write(element.bytes + Data("\n".utf8)) }
        try await console.writeValue(
            .shape([
                ("attempt", .integer(Int64(attempt))), ("index", .integer(Int64(clamping: element.index))),
                ("value", .value(element.value)),
            ]), connection: connection)
    }

    private func tellGap(_ next: UInt64, _ index: UInt64) async {
        if next > index { console.note("\(reference.path): \(next - index) partial results are gone\n") }
    }
}

extension WireElement {
    fileprivate var value: WireValue {
        .with {
            $0.encoding = encoding
            $0.storage = .inline(bytes)
        }
    }
}
