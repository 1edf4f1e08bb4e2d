/// A first-in-first-out queue; both ends in amortised constant time.
struct Backlog<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    var count: Int { elements.count - head }

    /// The element at `offset` from the first one; nil beyond the last.
    subscript(offset: Int) -> Element? {
        let index = head + offset
        return offset >= 0 && index < elements.count ? elements[index] : nil
    }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head < 1_024)
            head = 0
        } else if head >= 1_024, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
