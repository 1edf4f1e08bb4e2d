/// Limits of what is served over HTTP.
enum HTTPLimits {
    /// A graph file; what is larger is handed in with `aop submit`.
    static let graphFileBytes = 16 << 20
    /// A request that steers.
    static let bodyBytes = 64 << 10
    /// A token in a header is no longer.
    static let headerBytes = 1024
    /// Connections that are open at once, or a quarter of the files that the process may open.
    static let connections = 1_000
    /// A connection without a request, or with a part of one, is closed after this.
    static let idleSeconds: Int64 = 60
    /// Streams of events that are open at once, of all viewers together.
    static let streams = 100
    /// How many submissions the stream of the cluster has: the newest.
    static let streamedSubmissions = 200
    /// How many events of workers it has: the last ones.
    static let streamedWorkerEvents = 200
    /// What is remembered of a followed submission's events, for those who come back.
    static let rememberedBytes = 4 << 20
    /// Submissions that are followed at once.
    static let followedSubmissions = 200
    /// How long a followed submission is remembered when nobody looks any more.
    static let lingerSeconds = 60
    /// Without an event a line is written so often, so that both sides see that the other is there.
    static let heartbeatMilliseconds = 15_000
    /// Views of the cluster are made no more often.
    static let refreshMilliseconds = 200
    /// Operations of a page.
    static let operationsPerPage = 5_000
    static let submissionsPerPage = 1_000
    /// Series of the metrics of HTTP itself.
    static let series = 1_000
}
