import Foundation

/// Where plain operations are to be run: they do not know it themselves. One that is in several places is run by whoever
/// comes first, and the search for circles of waits asks who that will be.
///
/// Groups are listed from the moment they take a plain operation in until they go away; queues, and whoever runs it, while
/// they have it.
enum PlainPlaces {
    private struct Place {
        /// Nil for a queue.
        weak var group: GroupOperation?
        let isQueue: Bool

        init(of group: GroupOperation? = nil) { (self.group, isQueue) = (group, group == nil) }
    }

    private struct Places {
        var byHolder: [ObjectIdentifier: Place] = [:]
        /// Whether one of them has it run by Foundation, which takes an operation once.
        var isTaken = false
    }

    private static let places = Guarded<[ObjectIdentifier: Places]>([:])

    /// `holder` is going to run `operation`, and holds it until ``remove(_:of:)``.
    static func add(_ operation: Foundation.Operation, to holder: AnyObject) {
        let place = Place(of: holder as? GroupOperation)
        places.withLock { $0[ObjectIdentifier(operation), default: Places()].byHolder[ObjectIdentifier(holder)] = place }
    }

    /// The turn of `operation` has come where `member` is: whether nobody else has it run.
    static func take(_ operation: Foundation.Operation, for member: PlainMember) -> Bool {
        places.withLock { places in
            let isTaken = places[ObjectIdentifier(operation)]?.isTaken ?? false
            guard !isTaken else { return false }
            places[ObjectIdentifier(operation), default: Places()].isTaken = true
            places[ObjectIdentifier(operation)]?.byHolder[ObjectIdentifier(member)] = Place()  // remembered until it has ended
            return true
        }
    }

    /// Whether a queue of ours has it run.
    static func isInOurQueue(_ operation: Foundation.Operation) -> Bool {
        places.withLock { places in
            places[ObjectIdentifier(operation)]?.byHolder.values.contains { $0.isQueue } == true
        }
    }

    static func remove(_ operation: Foundation.Operation, of holder: AnyObject) {
        let operation = ObjectIdentifier(operation)
        places.withLock { places in
            places[operation]?.byHolder[ObjectIdentifier(holder)] = nil
            if places[operation]?.byHolder.isEmpty == true { places[operation] = nil }
        }
    }

    /// The group that runs `operation`, if it is in no other place: else whoever comes first runs it.
    fileprivate static func onlyGroup(of operation: Foundation.Operation) -> GroupOperation? {
        places.withLock { places in
            guard let places = places[ObjectIdentifier(operation)], places.byHolder.count == 1 else { return nil }
            return places.byHolder.values.first?.group
        }
    }
}

extension Foundation.Operation {
    /// The group whose child this plain operation is, and which nobody else runs, as long as its turn has not come.
    var groupToStartPlain: GroupOperation? { isFinished || isExecuting ? nil : groupToStartIdlePlain }

    /// The same for one that has not begun: the program's code is not asked.
    var groupToStartIdlePlain: GroupOperation? {
        guard let group = PlainPlaces.onlyGroup(of: self) else { return nil }
        return group.roster.withLock { $0.isListed(self) } ? group : nil
    }
}
