import Scheduling

/// Messages whose facts are not on the disk yet, in the order in which they were decided.
///
/// The scheduler's `after` never falls from one send to the next, so that a queue is enough and no message overtakes
/// another.
struct HeldSends {
    private var sends: [Outputs.Send] = []
    private var head = 0

    var isEmpty: Bool { head == sends.count }

    mutating func append(_ list: [Outputs.Send]) { sends += list }

    /// Takes out what may go now.
    mutating func release(upTo durable: JournalSequence) -> [Outputs.Send] {
        var end = head
        while end < sends.count, sends[end].after <= durable { end += 1 }
        guard end > head else { return [] }
        let released = Array(sends[head..<end])
        if end == sends.count {
            sends.removeAll(keepingCapacity: sends.count <= 4096)
            head = 0
        } else {
            head = end
            // Lets go of what was sent; moves the rest only when it is the smaller part.
            if head * 2 >= sends.count {
                sends.removeFirst(head)
                head = 0
            }
        }
        return released
    }
}
