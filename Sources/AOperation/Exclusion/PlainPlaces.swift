import Foundation

/// Where plain operations are to be run, for the search for circles of waits: these do not know it themselves.
///
/// Groups are listed from the moment they take a plain operation in until they go away; queues while they have it.
enum PlainPlaces {
    private struct Place {
        let holder: ObjectIdentifier
        /// Nil for a queue.
        weak var group: GroupOperation?
    }

    private static let places = Guarded<[ObjectIdentifier: [Place]]>([:])

    /// `holder` is going to run `operation`, and holds it until ``remove(_:of:)``.
    static func add(_ operation: Foundation.Operation, to holder: AnyObject) {
        let place = Place(holder: ObjectIdentifier(holder), group: holder as? GroupOperation)
        places.withLock { places in
            var others = places[ObjectIdentifier(operation)] ?? []
            guard !others.contains(where: { $0.holder == place.holder }) else { return }
            others.append(place)
            places[ObjectIdentifier(operation)] = others
        }
    }

    static func remove(_ operation: Foundation.Operation, of holder: AnyObject) {
        let (operation, holder) = (ObjectIdentifier(operation), ObjectIdentifier(holder))
        places.withLock { places in
            guard var others = places[operation], let index = others.firstIndex(where: { $0.holder == holder }) else { return }
            others.remove(at: index)
            places[operation] = others.isEmpty ? nil : others
        }
    }

    /// The group that runs `operation`, if it is in no other place: else whoever comes first runs it.
    fileprivate static func onlyGroup(of operation: Foundation.Operation) -> GroupOperation? {
        places.withLock { places in
            guard let places = places[ObjectIdentifier(operation)], places.count == 1 else { return nil }
            return places[0].group
        }
    }
}

extension Foundation.Operation {
    /// The group whose child this plain operation is, and which nobody else runs, as long as its turn has not come.
    var groupToStartPlain: GroupOperation? {
        guard !isFinished, !isExecuting, let group = PlainPlaces.onlyGroup(of: self) else { return nil }
        return group.roster.withLock { $0.isListed(self) } ? group : nil
    }
}
