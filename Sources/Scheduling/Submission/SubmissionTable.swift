/// The submissions by their index, which is their number less one; those that were forgotten are left out.
///
/// Numbers are never given twice: `total` only rises. What is forgotten from the front on takes no room; elsewhere its place
/// stays until those in front of it are forgotten, too.
///
/// Each is in a box: a submission is dozens of collections, and to read or change one in its place must not count references to
/// all of them. Copies of the table are values as ever: who changes a submission that another copy has, too, copies it first.
struct SubmissionTable: Sequence {
    fileprivate final class Box: @unchecked Sendable {
        /// A variable of the class would be copied for each call of a function that the compiler does not see through, and each access
        /// to it would be looked up at run time; that of the table to this place is exclusive by itself, as it is a value.
        let place: UnsafeMutablePointer<Submission>

        init(_ submission: Submission) {
            place = .allocate(capacity: 1)
            place.initialize(to: submission)
        }

        deinit {
            place.deinitialize(count: 1)
            place.deallocate()
        }

        var submission: Submission { place.pointee }
    }

    /// How many there ever were: the index of the next one.
    private(set) var total = 0
    /// How many there are.
    private(set) var count = 0
    /// The index of the first of `slots`.
    private var first = 0
    /// Those in front of `head` are empty.
    private var head = 0
    private var slots: [Box?] = []

    init() {}

    /// One in which all were forgotten.
    init(total: Int) {
        self.total = total
        first = total
    }

    /// - Precondition: there is one at `index`.
    subscript(index: Int) -> Submission {
        _read { yield slots[index - first]!.place.pointee }
        _modify {
            if !isKnownUniquelyReferenced(&slots[index - first]) {
                slots[index - first] = Box(slots[index - first]!.submission)
            }
            yield &slots[index - first]!.place.pointee
        }
    }

    func contains(_ index: Int) -> Bool {
        index >= first && index - first < slots.count && slots[index - first] != nil
    }

    /// Of those that there are, rising.
    var indices: some Sequence<Int> {
        let slots = slots
        return (head..<slots.count).lazy.filter { slots[$0] != nil }.map { [first] in $0 + first }
    }

    /// Of the last one that there is.
    var lastIndex: Int? { index(before: total) }

    mutating func append(_ submission: Submission) {
        insert(submission, at: total)
        total += 1
    }

    /// One of those that there were; behind those that are in it.
    ///
    /// - Precondition: `index` is below `total`, and above all that are in it.
    mutating func restore(_ submission: Submission, at index: Int) {
        precondition(index < total, "submission \(index + 1) is restored of \(total)")
        insert(submission, at: index)
    }

    private mutating func insert(_ submission: Submission, at index: Int) {
        if head == slots.count {
            slots.removeAll(keepingCapacity: true)
            head = 0
            first = index
        }
        while first + slots.count < index { slots.append(nil) }
        slots.append(Box(submission))
        count += 1
    }

    /// - Complexity: amortised O(1).
    mutating func remove(at index: Int) {
        slots[index - first] = nil
        count -= 1
        while let last = slots.last, last == nil, slots.count > head { slots.removeLast() }
        while head < slots.count, slots[head] == nil { head += 1 }
        guard head >= 64, head * 2 >= slots.count else { return }
        slots.removeFirst(head)
        first += head
        head = 0
    }

    func last(where isIt: (Submission) -> Bool) -> Submission? {
        slots.last { $0.map { isIt($0.submission) } ?? false }??.submission
    }

    /// The index of the one before `index`.
    func index(before index: Int) -> Int? {
        var slot = Swift.min(index - first, slots.count)
        while slot > head {
            slot -= 1
            if slots[slot] != nil { return slot + first }
        }
        return nil
    }

    struct Iterator: IteratorProtocol {
        fileprivate var slots: ArraySlice<Box?>.Iterator

        mutating func next() -> Submission? {
            while let slot = slots.next() {
                if let slot { return slot.submission }
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(slots: slots[head...].makeIterator()) }
}

extension SubmissionTable: CustomReflectable {
    /// The same for the same submissions, whatever room those take that were forgotten.
    var customMirror: Mirror {
        Mirror(self, children: ["total": total, "submissions": Array(self)])
    }
}
