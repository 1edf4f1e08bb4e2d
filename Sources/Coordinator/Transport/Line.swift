/// A queue: what came first goes first; neither end costs more for a long one.
struct Line<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        defer {
            elements[head] = nil
            head += 1
            if head == elements.count {
                elements.removeAll(keepingCapacity: elements.count <= 64)
                head = 0
            } else if head >= 256 && head * 2 >= elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }

    /// - Complexity: O(count).
    mutating func remove(where isUnwanted: (Element) -> Bool) -> [Element] {
        var (kept, removed): ([Element], [Element]) = ([], [])
        while let element = popFirst() { if isUnwanted(element) { removed.append(element) } else { kept.append(element) } }
        for element in kept { append(element) }
        return removed
    }
}
