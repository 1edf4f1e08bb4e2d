/// A lock that operations share: at most `limit` of those that name its key run at once, in the whole process.
public struct MutualExclusion: Hashable, Sendable {
    /// The name of the lock.
    public var key: String
    /// How many may hold it at once, 1 or more. Where operations name different limits for one key, the smallest
    /// among those that hold it or wait for it counts.
    public var limit: Int

    /// The lock `key`.
    ///
    /// - Parameter limit: how many may hold it at once; less than 1 counts as 1.
    public init(key: String, limit: Int = 1) {
        self.key = key
        self.limit = max(1, limit)
    }
}
