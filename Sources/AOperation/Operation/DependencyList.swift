import Foundation

/// The operations one operation waits for, in the order in which they were declared, each once.
struct DependencyList {
    private(set) var all: [Foundation.Operation] = []
    /// Filled when a linear search would begin to cost: a fan-in of 100,000 must not be quadratic.
    private var known: Set<ObjectIdentifier> = []
    private static let searchedLinearly = 8

    /// Adds `operation` unless it is there; returns whether it was added.
    @discardableResult
    mutating func append(_ operation: Foundation.Operation) -> Bool {
        guard !contains(operation) else { return false }
        all.append(operation)
        if all.count == Self.searchedLinearly + 1 {
            known = Set(all.map { ObjectIdentifier($0) })
        } else if all.count > Self.searchedLinearly {
            known.insert(ObjectIdentifier(operation))
        }
        return true
    }

    /// Removes `operation`; returns whether it was there.
    mutating func remove(_ operation: Foundation.Operation) -> Bool {
        guard let index = all.firstIndex(where: { $0 === operation }) else { return false }
        all.remove(at: index)
        known = all.count > Self.searchedLinearly ? Set(all.map { ObjectIdentifier($0) }) : []
        return true
    }

    func contains(_ operation: Foundation.Operation) -> Bool {
        all.count > Self.searchedLinearly
            ? known.contains(ObjectIdentifier(operation))
            : all.contains { $0 === operation }
    }
}
