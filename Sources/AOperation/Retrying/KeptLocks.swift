/// What a retry scope has locked and lends to its operations.
struct KeptLocks {
    private var requests: [UInt64: LockRequest] = [:]
    /// By the names that they hold: those of a semaphore may be several.
    private var ids: [String: [UInt64]] = [:]

    func contains(_ id: UInt64) -> Bool { requests[id] != nil }

    func holding(_ name: String) -> [LockRequest] { (ids[name] ?? []).compactMap { requests[$0] } }

    mutating func append(_ request: LockRequest) {
        requests[request.id] = request
        for name in request.names { ids[name, default: []].append(request.id) }
    }

    mutating func remove(_ request: LockRequest) {
        guard requests.removeValue(forKey: request.id) != nil else { return }
        for name in request.names {
            ids[name]?.removeAll { $0 == request.id }
            if ids[name]?.isEmpty == true { ids[name] = nil }
        }
    }

    mutating func removeAll() -> [LockRequest] {
        defer { self = KeptLocks() }
        return requests.values.sorted { $0.id < $1.id }
    }
}
