/// A first-in-first-out queue; both ends in amortised constant time.
struct Backlog<Element> {
    private var storage: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == storage.count }

    var count: Int { storage.count - head }

    /// The one that comes out next.
    var first: Element? { isEmpty ? nil : storage[head] }

    /// All that are in, in their order.
    var elements: some Sequence<Element> { storage[head...].lazy.compactMap { $0 } }

    /// The element at `offset` from the first one; nil beyond the last.
    subscript(offset: Int) -> Element? {
        let index = head + offset
        return offset >= 0 && index < storage.count ? storage[index] : nil
    }

    mutating func append(_ element: Element) {
        storage.append(element)
    }

    /// Linear, unless something came out before.
    mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            storage[head] = element
        } else {
            storage.insert(element, at: 0)
        }
    }

    mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        let element = storage[head]
        storage[head] = nil
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: head < 1_024)
            head = 0
        } else if head >= 1_024, head * 2 > storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }
}
