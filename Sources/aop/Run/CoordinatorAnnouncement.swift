import Foundation

/// What a coordinator that this process has started says of itself when it listens.
struct CoordinatorAnnouncement: Decodable, Sendable {
    /// Endpoints.
    var listen: [String]
    /// `127.0.0.1:7601`; nil: nowhere.
    var http: String?
    /// The file with the token for it.
    var httpToken: String?

    /// Waits for it.
    ///
    /// - Returns: nil: the process ended before.
    static func of(_ coordinator: ChildProcess) async throws -> CoordinatorAnnouncement? {
        guard let line = await coordinator.ready() else { return nil }
        return try JSONDecoder().decode(CoordinatorAnnouncement.self, from: Data(line.utf8))
    }
}
