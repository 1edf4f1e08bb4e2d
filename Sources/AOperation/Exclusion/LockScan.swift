import Synchronization

/// What a group remembers of a search for the locks that those inside of it name.
///
/// Every group asks, before it starts, for the locks that anything inside of it names. In a tree without conditions
/// the first search says so of all groups in it, until something is added: nested groups do not search again.
enum LockScan {
    /// Nobody has looked since something was added.
    case unknown
    /// The search with this number has begun with the group, and nothing was added since.
    case underWay(UInt64)
    /// Neither the group nor anything inside of it has conditions, or belongs to a delivery net.
    case bare

    private static let lastNumber = Atomic<UInt64>(0)

    static func newNumber() -> UInt64 { lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

    /// A search reaches the group. False when there is nothing to be found in it.
    mutating func begin(_ number: UInt64) -> Bool {
        if case .bare = self { return false }
        self = .underWay(number)
        return true
    }

    /// The search is over, and has found nothing in any group.
    mutating func end(_ number: UInt64) {
        if case .underWay(number) = self { self = .bare }
    }

    /// Something was added. False when there is nothing to be forgotten, neither here nor by the groups around.
    mutating func forget() -> Bool {
        if case .unknown = self { return false }
        self = .unknown
        return true
    }
}

extension AOperation {
    /// A condition, a child or a delivery was added to this operation: groups that it is inside of search again.
    ///
    /// To be called after that. Constant time, unless a search has come by.
    final func forgetLockScan() {
        var next: AOperation? = isContainer ? self : core.withLock { $0.group }
        while let group = next {
            next = group.core.withLock { $0.lockScan.forget() ? $0.group : nil }
        }
    }
}
