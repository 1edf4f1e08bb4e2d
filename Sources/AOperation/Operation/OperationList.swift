import Foundation

/// Operations in the order in which they were added, each once: those that one operation waits for, or its parts.
///
/// Adding, finding and removing one takes amortised constant time: a fan-in of 100,000 must not be quadratic.
struct OperationList<Member: Foundation.Operation> {
    private var storage = Storage.few([])

    private enum Storage {
        /// As many as are searched one by one sooner than by an index.
        case few([Member])
        case many(IndexedOperations<Member>)
    }

    private static var searchedLinearly: Int { 8 }

    var isEmpty: Bool {
        switch storage {
        case .few(let list): list.isEmpty
        case .many(let list): list.count == 0
        }
    }

    /// Constant time for few operations, linear for many.
    var all: [Member] {
        switch storage {
        case .few(let list): list
        case .many(let list): list.all
        }
    }

    /// Adds `operation` unless it is there; returns whether it was added.
    @discardableResult
    mutating func append(_ operation: Member) -> Bool {
        switch storage {
        case .few(var list):
            guard !list.contains(where: { $0 === operation }) else { return false }
            storage = .few([])  // so that the list is not copied
            list.append(operation)
            storage = list.count > Self.searchedLinearly ? .many(IndexedOperations(list)) : .few(list)
            return true
        case .many(var list):
            storage = .few([])
            defer { storage = .many(list) }
            return list.append(operation)
        }
    }

    /// Removes `operation`; returns whether it was there.
    mutating func remove(_ operation: Foundation.Operation) -> Bool {
        switch storage {
        case .few(var list):
            guard let index = list.firstIndex(where: { $0 === operation }) else { return false }
            storage = .few([])
            list.remove(at: index)
            storage = .few(list)
            return true
        case .many(var list):
            storage = .few([])
            let isRemoved = list.remove(operation)
            storage = list.count > Self.searchedLinearly / 2 ? .many(list) : .few(list.all)
            return isRemoved
        }
    }

    func contains(_ operation: Foundation.Operation) -> Bool {
        switch storage {
        case .few(let list): list.contains { $0 === operation }
        case .many(let list): list.contains(operation)
        }
    }
}

/// Operations in order, with an index of their places. What is removed leaves a hole until half of the places are holes.
private struct IndexedOperations<Member: Foundation.Operation> {
    private var slots: [Member?]
    private var places: [ObjectIdentifier: Int]

    init(_ operations: [Member]) {
        slots = operations
        places = [:]
        for (place, operation) in operations.enumerated() { places[ObjectIdentifier(operation)] = place }
    }

    var count: Int { places.count }

    var all: [Member] { slots.compactMap { $0 } }

    func contains(_ operation: Foundation.Operation) -> Bool { places[ObjectIdentifier(operation)] != nil }

    mutating func append(_ operation: Member) -> Bool {
        guard !contains(operation) else { return false }
        places[ObjectIdentifier(operation)] = slots.count
        slots.append(operation)
        return true
    }

    mutating func remove(_ operation: Foundation.Operation) -> Bool {
        guard let place = places.removeValue(forKey: ObjectIdentifier(operation)) else { return false }
        slots[place] = nil
        if places.count * 2 < slots.count { self = IndexedOperations(all) }
        return true
    }
}
