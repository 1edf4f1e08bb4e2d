import HeapModule

/// What is to happen in virtual time; of what is due at one moment, in the order in which it was put in.
struct SimulationQueue<Event> {
    private struct Entry: Comparable {
        let at: Int64
        let number: UInt64
        let event: Event
        static func < (a: Entry, b: Entry) -> Bool { (a.at, a.number) < (b.at, b.number) }
        static func == (a: Entry, b: Entry) -> Bool { a.number == b.number }
    }

    private var heap = Heap<Entry>()
    private var count: UInt64 = 0

    mutating func put(_ event: Event, at time: Int64) {
        count += 1
        heap.insert(Entry(at: time, number: count, event: event))
    }

    mutating func next() -> (at: Int64, event: Event)? { heap.popMin().map { ($0.at, $0.event) } }
}
