import Cluster
import Foundation
import Shapes
import Wire

/// The results a person wants to see: of an ordered group its last child's value, of another group a table of its
/// children's values.
///
/// On a terminal the values of a table cannot steer it (``PlainText``); a value alone is written byte for byte.
struct ResultText {
    private let output: FileOutput
    private let connection: ClusterConnection
    private let tree: OperationTree
    /// The values alone, in child order.
    private let isBare: Bool

    init(_ tree: OperationTree, output: FileOutput, connection: ClusterConnection, isBare: Bool = false) {
        self.isBare = isBare
        self.tree = tree
        self.output = output
        self.connection = connection
    }

    func write() async throws {
        guard !tree.nodes.isEmpty else { return }
        try await write(node: 0)
    }

    private func write(node index: Int) async throws {
        let node = tree.nodes[index]
        switch node.view.kind {
        case .operation, .decider, .UNRECOGNIZED:
            if node.view.hasValue { try await write(node.view.value) }
        case .ordered:
            if let last = node.children.last { try await write(node: last) }
        case .group where isBare, .forEach where isBare:
            for leaf in leaves(of: index) where tree.nodes[leaf].view.hasValue { try await write(tree.nodes[leaf].view.value) }
        case .group, .forEach:
            try await writeTable(of: index)
        }
    }

    /// One operation's value: text with a line break at its end, bytes exactly as they are.
    private func write(_ value: WireValue) async throws {
        guard value.encoding != .void else { return }
        let end = LastByte()
        try await connection.read(value) { bytes in
            end.byte = bytes.last ?? end.byte
            try await output.write(bytes)
        }
        if value.encoding != .bytes, end.byte != UInt8(ascii: "\n") { try await output.write(Data("\n".utf8)) }
    }

    /// A row for each operation below the group: its path from here, and its value if that is one line; longer
    /// values follow their path, indented.
    private func writeTable(of index: Int) async throws {
        let prefix = tree.nodes[index].view.path
        let rows = leaves(of: index)
        let labels = rows.map { label(tree.nodes[$0].view.path, below: prefix) }
        let width = min(40, labels.map(DisplayWidth.of).max() ?? 0)
        for (row, label) in zip(rows, labels) {
            let view = tree.nodes[row].view
            guard view.hasValue else {
                try await write("\(DisplayWidth.pad(label, to: width))  (\(view.state.word))\n")
                continue
            }
            try await write(DisplayWidth.pad(label, to: width))
            try await writeCell(view.value)
        }
    }

    private func writeCell(_ value: WireValue) async throws {
        if value.encoding == .void { return try await write("  -\n") }
        if value.encoding == .bytes { return try await write("  (\(size(of: value)) bytes)\n") }
        let text = Shown(isPlain: output.isTerminal)
        if case .inline(let bytes) = value.storage, !bytes.contains(UInt8(ascii: "\n")) {
            return try await output.write(Data("  ".utf8) + text.next(bytes) + text.end() + Data("\n".utf8))
        }
        try await write("\n    ")
        try await connection.read(value) { bytes in
            try await output.write(Data(text.next(bytes).flatMap { $0 == UInt8(ascii: "\n") ? Array("\n    ".utf8) : [$0] }))
        }
        try await output.write(text.end() + Data("\n".utf8))
    }

    /// Operations below a group in child order; of an ordered group inside it, too, all are shown.
    private func leaves(of index: Int) -> [Int] {
        var found: [Int] = []
        var open = Array(tree.nodes[index].children.reversed())
        while let next = open.popLast() {
            if tree.nodes[next].isGroup {
                open.append(contentsOf: tree.nodes[next].children.reversed())
            } else {
                found.append(next)
            }
        }
        return found
    }

    private func label(_ path: String, below prefix: String) -> String {
        path.hasPrefix(prefix + "/") ? String(path.dropFirst(prefix.count + 1)) : path
    }

    private func size(of value: WireValue) -> UInt64 {
        switch value.storage {
        case .inline(let bytes): UInt64(bytes.count)
        case .blob(let reference): reference.size
        case nil: 0
        }
    }

    private func write(_ text: String) async throws { try await output.write(Data(text.utf8)) }

    /// Carries the last byte out of the reading closure.
    private final class LastByte { var byte: UInt8? }

    /// A value in pieces, as it is shown.
    private final class Shown {
        private var plain: PlainText.Pieces?

        init(isPlain: Bool) { plain = isPlain ? PlainText.Pieces() : nil }

        func next(_ piece: Data) -> Data { plain?.next(piece) ?? piece }
        func end() -> Data { plain?.end() ?? Data() }
    }
}

/// `succeeded  41 operations in 1.2 s  (word-count, 7fk2m9)`
enum SummaryText {
    static func line(_ view: WireSubmissionView, style: Style) -> String {
        let counts = view.counts
        var parts = ["\(counts.total) operation\(counts.total == 1 ? "" : "s")"]
        if counts.failed > 0 { parts.append("\(counts.failed) failed") }
        if counts.cancelled > 0 { parts.append("\(counts.cancelled) cancelled") }
        // Only operations are counted.
        if view.state == .failed, counts.failed == 0, counts.cancelled == 0 { parts.append("none of them failed, but a group or forEach") }
        let time = TimeText.duration(milliseconds: view.durationMilliseconds)
        return "\(style.state(view.state.word)): \(parts.joined(separator: ", ")) in \(time)"
            + "  (\([view.name, view.id].filter { !$0.isEmpty }.joined(separator: ", ")))\n"
    }
}
