import Glibc

/// The key of a host that joins. It is on the disk before the token is used, so that a join that was interrupted is repeated with
/// the same key; under its own name it is only when the coordinator has said that it is authorised.
public struct JoiningKey: Sendable {
    public enum Standing: Sendable {
        /// The token was exchanged for the key in this file before.
        case joined(path: String, PublicKey)
        case joining(JoiningKey)
    }

    /// Of the file until then: `worker.key.joining`.
    static let suffix = ".joining"

    /// Where the key will be.
    public let path: String
    public var publicKey: PublicKey { pair.publicKey }
    private let pair: KeyPair
    private let token: JoinToken

    private var pendingPath: String { path + Self.suffix }

    private init(path: String, pair: KeyPair, token: JoinToken) {
        (self.path, self.pair, self.token) = (path, pair, token)
    }

    /// Takes up a join in the directory, or begins one: makes the key, and the directory where it is missing.
    ///
    /// - Throws: ``KeyError``: there is another key already (`exists`), or a join with another coordinator (`otherJoin`), or others may
    ///   write there (`directoryMode`).
    public static func prepare(_ token: JoinToken, directory: String) throws(KeyError) -> Standing {
        let path = "\(directory)/\(token.keyFile)"
        try KeyDirectory.make(directory)
        if KeyDirectory.exists(token.keyFile, in: directory) {
            let file = try KeyFile(contentsOf: path)
            guard file.token == token.publicKey else { throw .exists(path: path) }
            try JoiningKey(path: path, pair: file.pair, token: token).finish()
            return .joined(path: path, file.pair.publicKey)
        }
        let made: KeyPair
        do throws(ZMQError) { made = try KeyPair() } catch { throw .keys(error) }
        do throws(KeyError) {
            try KeyFile(name: token.name, pair: made, serverKey: token.serverKey).write(to: path + suffix)
            return .joining(JoiningKey(path: path, pair: made, token: token))
        } catch {
            guard case .exists = error else { throw error }
            // Of a join that was interrupted, with this token or an earlier one.
            let file = try KeyFile(contentsOf: path + suffix)
            guard file.serverKey == token.serverKey else { throw .otherJoin(path: path + suffix) }
            return .joining(JoiningKey(path: path, pair: file.pair, token: token))
        }
    }

    /// The key is authorised: gives the file its name.
    ///
    /// - Throws: ``KeyError``. It can be done again, and changes nothing then.
    public func finish() throws(KeyError) {
        do throws(KeyError) {
            try KeyFile(name: token.name, pair: pair, serverKey: token.serverKey, token: token.publicKey).write(to: path)
        } catch {
            // By another process that joins with the same token.
            guard case .exists = error, try KeyFile(contentsOf: path).pair.publicKey == publicKey else { throw error }
        }
        guard unlink(pendingPath) == 0 || errno == ENOENT else {
            throw .system(SystemCallError(operation: "unlink", subject: pendingPath, errno: errno))
        }
    }
}
