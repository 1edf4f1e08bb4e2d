/// A lock that somebody holds or waits for.
public struct LockView: Hashable, Sendable {
    public struct Holder: Hashable, Sendable {
        /// Submission and path; empty: of a submission that the reader may not read.
        public var operation: String
        /// Where its attempt runs; empty: there is none now, it is a group, or the reader may not read it.
        public var worker: String
        /// Of that attempt; 0: none, or not for the reader.
        public var token: UInt64
        /// Milliseconds since 1970.
        public var since: Int64
    }

    public struct Waiter: Hashable, Sendable {
        /// Submission and path; empty: of a submission that the reader may not read.
        public var operation: String
        /// When it asked: milliseconds since 1970.
        public var since: Int64
    }

    public var key: String
    /// The smallest that those who hold it or wait for it name.
    public var limit: Int
    /// Submission and path of the group that holds the key for those inside of it; empty: it is the cluster's lock.
    public var scope: String
    /// In the order of the grants; of very many only the first.
    public var holders: [Holder]
    public var holderCount: Int
    /// In line, from the front; of very many only the first.
    public var waiting: [Waiter]
    public var waitingCount: Int

    /// What it takes in a page, roughly.
    var approximateBytes: Int {
        holders.reduce(64 + key.utf8.count + scope.utf8.count) { $0 + 32 + $1.operation.utf8.count + $1.worker.utf8.count }
            + waiting.reduce(0) { $0 + 16 + $1.operation.utf8.count }
    }
}
