import Cluster
import Foundation
import Synchronization

/// The submissions that somebody looks at, or did a moment ago.
final class SubmissionFeeds: Sendable {
    private let feeds = Mutex<[String: SubmissionFeed]>([:])
    private let connection: ClusterConnection

    init(_ connection: ClusterConnection) { self.connection = connection }

    /// - Parameter id: the whole id.
    /// - Throws: `APIFailure`: too many are looked at.
    func feed(of id: String) throws -> SubmissionFeed {
        let (feed, isNew): (SubmissionFeed?, Bool) = feeds.withLock { feeds in
            // One that has ended with an error has nothing more to say.
            if let known = feeds[id], !known.hasFailed { return (known, false) }
            guard feeds.count < HTTPLimits.followedSubmissions else { return (nil, false) }
            let feed = SubmissionFeed(id)
            feeds[id] = feed
            return (feed, true)
        }
        guard let feed else {
            throw APIFailure(
                .serviceUnavailable, "busy",
                "\(HTTPLimits.followedSubmissions) submissions are looked at, which is the most (followedSubmissions); close others",
                headers: [.retryAfter: "\(HTTPLimits.lingerSeconds)"])
        }
        if isNew { keep(feed) }
        return feed
    }

    /// Follows the submission as long as anybody looks, and a little longer for those who come back.
    private func keep(_ feed: SubmissionFeed) {
        let following = Task { await feed.run(connection) }
        Task {
            var idle = 0
            while idle < 2 {
                do { try await Task.sleep(for: .seconds(HTTPLimits.lingerSeconds / 2)) } catch { break }
                idle = feed.readerCount == 0 ? idle + 1 : 0
            }
            following.cancel()
            feeds.withLock { feeds in
                if feeds[feed.id] === feed { feeds[feed.id] = nil }
            }
        }
    }
}
