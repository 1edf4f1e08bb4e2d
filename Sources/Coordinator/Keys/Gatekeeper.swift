import Glibc
import Wire

/// Whom a coordinator with keys lets in: its ZAP handler, and the file of authorised keys, which is read again when it changes.
///
/// Belongs to the transport thread. While the file cannot be read nobody new is let in; who is connected stays.
final class Gatekeeper {
    enum Change {
        case none
        /// The file says something else than before: what it says, for people.
        case changed(String)
        /// It cannot be read, for this reason, which is another one than before.
        case unreadable(KeyError)
        /// It says what it said before it could not be read.
        case readableAgain
    }

    /// What changes when the file does.
    private struct Stamp: Equatable {
        let device: dev_t
        let inode: ino_t
        let size: off_t
        let modified: [Int]
        let changed: [Int]

        init?(of path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            (device, inode, size) = (status.st_dev, status.st_ino, status.st_size)
            modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
            changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
        }

        /// Whether it is the same file, with other contents.
        func isWritten(into other: Stamp) -> Bool { device == other.device && inode == other.inode && modified != other.modified }
    }

    let zap: ZAPSocket
    var path: String { coordinator.authorizedPath }
    var directory: String { KeyDirectory.of(path) }
    /// The coordinator's own, which is no peer's.
    var ownKey: PublicKey { coordinator.pair.publicKey }
    private let coordinator: CoordinatorKeys
    /// The file as it was read last.
    private(set) var keys = AuthorizedKeys()
    /// Why it cannot be read now; nil: it can.
    private var trouble: KeyError?
    var isReadable: Bool { trouble == nil }
    private var stamp: Stamp?
    /// What the file is since when (boot time), where it was written in its place: whoever writes it may be at it.
    private var settling: (stamp: Stamp, since: Int64)?
    private var principals: [PublicKey: Principal] = [:]
    private var enrolments: [PublicKey: Enrolment] = [:]

    /// - Throws: `KeyError` when the file of authorised keys is missing, cannot be read or lists the coordinator's own key, `ZMQError`.
    init(_ keys: CoordinatorKeys, context: ZMQContext) throws {
        coordinator = keys
        zap = try ZAPSocket(context: context)
        stamp = Stamp(of: keys.authorizedPath)
        take(try keys.authorized())
    }

    /// Reads the file if it is another one than before.
    ///
    /// One that is written in its place is read when it has stayed as it is for a moment, and one that is empty counts as one that cannot
    /// be read: nobody loses work because somebody saves the file.
    ///
    /// - Parameter now: boot time.
    func refresh(at now: Int64) -> Change {
        let current = Stamp(of: path)
        guard !isReadable || current == nil || current != stamp else { return .none }
        guard hasSettled(current, at: now) else { return .none }
        do throws(KeyError) {
            if current?.size == 0, !keys.isEmpty { throw .emptied(path: path) }
            // Taken before the file is read: what is written meanwhile is seen the next time.
            let keys = try coordinator.authorized()
            let (earlier, wasReadable) = (self.keys, isReadable)
            (stamp, trouble) = (current, nil)
            take(keys)
            if keys != earlier { return .changed(keys.changes(since: earlier)) }
            return wasReadable ? .none : .readableAgain
        } catch {
            defer { trouble = error }
            return trouble == error ? .none : .unreadable(error)
        }
    }

    private func hasSettled(_ current: Stamp?, at now: Int64) -> Bool {
        guard let current, let stamp, current != stamp, current.isWritten(into: stamp) else {
            settling = nil
            return true
        }
        guard settling?.stamp == current else {
            settling = (current, now)
            return false
        }
        return now - (settling?.since ?? now) >= CoordinatorLimits.keysSettleMilliseconds
    }

    /// - Parameter now: milliseconds since 1970.
    func verdict(on key: PublicKey?, at now: Int64) -> ZAPVerdict {
        guard let key else { return .denied }
        guard isReadable else { return .unavailable }
        if principals[key] != nil { return .allowed }
        // Of one that was used, too, while it would be valid: who did not get the answer asks again.
        guard let enrolment = enrolments[key], now < enrolment.until else { return .denied }
        return .allowed
    }

    /// The join token whose key it is, whether it was used or has expired; nil: it is no token's.
    func enrolment(of key: PublicKey) -> Enrolment? { enrolments[key] }

    /// Whose key it is; nil: it is not authorised (any more).
    func principal(of key: PublicKey) -> Principal? { principals[key] }

    private func take(_ keys: AuthorizedKeys) {
        self.keys = keys
        enrolments = Dictionary(keys.enrolments.map { ($0.token, $0) }, uniquingKeysWith: { first, _ in first })
        principals = Dictionary(keys.principals.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
