import Foundation

/// The watches one operation keeps, each found by the operation it watches.
struct WatchList {
    private var watches: [ObjectIdentifier: DependencyWatch] = [:]

    var all: [DependencyWatch] { watches.isEmpty ? [] : Array(watches.values) }

    /// Keeps `watch`. A second one of the same operation, which only a dependency that is removed and added again on
    /// another thread meanwhile leads to, is kept as well, under its own identity: it counts, too.
    mutating func add(_ watch: DependencyWatch) {
        let target = ObjectIdentifier(watch.target)
        watches[watches[target] == nil ? target : ObjectIdentifier(watch)] = watch
    }

    /// Takes out the watch of `operation`.
    mutating func remove(of operation: Foundation.Operation) -> DependencyWatch? {
        watches.removeValue(forKey: ObjectIdentifier(operation))
    }
}
