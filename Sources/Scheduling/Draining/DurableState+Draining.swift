/// Workers that get nothing new. It is their names that are drained, so that a process that is started anew under the same
/// name is, too.
extension DurableState {
    mutating func drain(_ name: String, _ drain: WorkerDrain) throws(FactMismatch) {
        guard drains[name] == nil else { throw FactMismatch("worker `\(name)` is drained twice") }
        drains[name] = drain
        for index in workers.indices where workers[index].isNamed(name) { workers[index].isRemoved = false }
        markDrained()
    }

    mutating func resume(worker name: String) throws(FactMismatch) {
        guard drains.removeValue(forKey: name) != nil else { throw FactMismatch("worker `\(name)` takes work again, and was not drained") }
        markDrained()
    }

    mutating func remove(worker name: String) {
        drains[name] = nil
        for index in workers.indices where workers[index].isNamed(name) { workers[index].isRemoved = true }
        markDrained()
    }

    /// The index by number follows from the names.
    mutating func markDrained() {
        for index in workers.indices {
            workers[index].isDrained = !workers[index].identity.isSubmitter && drains[workers[index].identity.givenName] != nil
        }
    }
}

extension DurableState.WorkerRecord {
    /// Whether it was started under the name. Processes of submitters have names of their own.
    func isNamed(_ name: String) -> Bool { !identity.isSubmitter && identity.givenName == name }
}
