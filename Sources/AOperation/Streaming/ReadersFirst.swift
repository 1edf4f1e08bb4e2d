import Foundation

extension Sequence {
    /// The members, each receiver of a stream before its producer: those that are cancelled in this order are not ended by each other.
    ///
    /// - Complexity: O(*n*) and the lengths of the chains of streams; O(*r* log *r*) for *r* receivers.
    func readersFirst(_ operation: (Element) -> Foundation.Operation) -> [Element] {
        var depths = StreamDepths()
        var readers: [(depth: Int, element: Element)] = []
        var others: [Element] = []
        for element in self {
            let depth = (operation(element) as? AOperation).map { depths.depth(of: $0) } ?? 0
            if depth > 0 { readers.append((depth, element)) } else { others.append(element) }
        }
        readers.sort { $0.depth > $1.depth }
        return readers.map(\.element) + others
    }
}

/// How many streams are above an operation, each the producer of the next.
private struct StreamDepths {
    private var known: [ObjectIdentifier: Int] = [:]

    mutating func depth(of operation: AOperation) -> Int {
        var chain: [AOperation] = []
        var next: AOperation? = operation
        while let link = next, known[ObjectIdentifier(link)] == nil, let producer = link.streamProducer {
            chain.append(link)
            next = producer
        }
        guard !chain.isEmpty || !known.isEmpty else { return 0 }
        var depth = next.flatMap { known[ObjectIdentifier($0)] } ?? 0
        for link in chain.reversed() {
            depth += 1
            known[ObjectIdentifier(link)] = depth
        }
        return depth
    }
}
