import Glibc

/// A key, or a file of keys, that is missing or cannot be used. No secret ever appears.
public enum KeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Others than its owner may use it (or its owner may not).
    case mode(path: String, mode: UInt32)
    /// It belongs to another user.
    case foreign(path: String, owner: UInt32)
    case notARegularFile(path: String)
    /// Others may put files of their own in the place of those in it.
    case directoryMode(path: String, mode: UInt32)
    /// Another user has changed keys here, and has left it behind.
    case foreignLock(path: String, owner: UInt32)
    /// `line` from 1; 0: the file as a whole.
    case malformed(path: String, line: Int, problem: String)
    /// It had keys, and has nothing at all now.
    case emptied(path: String)
    /// Nothing is ever written over.
    case exists(path: String)
    /// Keys without a coordinator's beside them.
    case halfThere(path: String)
    case missing(path: String)
    /// None of these files is in the directory.
    case noneOf(names: [String], directory: String, endpoint: Endpoint)
    /// Off loopback nobody is let in without a key, and there is none in the standard folder.
    case required(names: [String], directory: String, endpoint: Endpoint)
    /// A coordinator's directory without its key.
    case noCoordinatorKey(directory: String)
    /// A coordinator's directory without the list of whom it lets in.
    case noList(path: String)
    /// Others than its owner may use that list (or its owner may not).
    case listMode(path: String, mode: UInt32)
    /// That list belongs to another user.
    case foreignList(path: String, owner: UInt32)
    /// The coordinator's file has a peer's key.
    case peersKey(path: String)
    /// The list lets in who has the coordinator's own key.
    case listsOwnKey(PublicKey, name: String, path: String)
    /// The key is the coordinator's, and no peer may have it.
    case ownKey(PublicKey)
    /// A name that no principal can have.
    case name(String)
    case unknownPrincipal(String, path: String)
    /// The key is some other principal's already.
    ///
    /// - Parameter path: of the list; empty: it is in no file.
    case taken(PublicKey, by: String, path: String)
    /// The key is that of a join token, whose secret has travelled.
    case ofAToken(PublicKey, name: String)
    /// The token is gone: what it was exchanged for may be revoked.
    case usedToken(name: String, key: PublicKey, path: String)
    /// A join in this directory has begun with another coordinator.
    case otherJoin(path: String)
    /// Another process has been changing the file for too long.
    case busy(path: String)
    case system(SystemCallError)
    case keys(ZMQError)

    public var description: String {
        switch self {
        case .mode(let path, let mode):
            "the key file \(path) has mode \(Self.octal(mode)), and must have 0600; if nobody else has used it: chmod 600 \(path.shellWord), else make new keys"
        case .foreign(let path, let owner):
            "the key file \(path) belongs to user \(owner), not to you (\(geteuid())); give every user a copy of their own (mode 0600), "
                + "or run as that user"
        case .notARegularFile(let path): "the key file \(path) is not a regular file; put the file itself there"
        case .directoryMode(let path, let mode):
            "the directory of keys \(path) has mode \(Self.octal(mode)), so that others than its owner could change what is in it; chmod go-w \(path.shellWord)"
        case .foreignLock(let path, let owner):
            "\(path) belongs to user \(owner), not to you (\(geteuid())), and keeps you from changing keys; it holds nothing: remove it, as that user"
        case .malformed(let path, 0, let problem): "\(path): \(problem)"
        case .malformed(let path, let line, let problem): "\(path):\(line): \(problem)"
        case .emptied(let path):
            "\(path) is empty; put back what was in it, or take keys back one by one with `aop keys revoke NAME\(Self.flag(path))`"
        case .exists(let path):
            "\(path) is there already, and keys are never written over; choose another directory with --dir, or move the old one away"
        case .halfThere(let path):
            "\(path) is there already, without the coordinator's key, and keys are never written over; it is of a host that joined a cluster, or of an "
                + "`aop keys init` that came to no end: move it away if nobody uses it, or choose another directory with --dir"
        case .missing(let path):
            "there is no key file \(path); `aop keys generate NAME` makes one where there are a cluster's keys, `aop keys init` these"
        case .noneOf(let names, let directory, let endpoint):
            "no key for \(endpoint) in \(directory): it needs \(Self.list(names)) there, or --key-file FILE (AOP_KEY)"
        case .required(let names, let directory, let endpoint):
            "\(endpoint) is off the loopback interface, where nobody is let in without a key, and there is no \(Self.list(names)) in "
                + "\(directory); `aop keys token NAME` on the coordinator's host and `aop keys join -` here make one, or name one with --key-file FILE (AOP_KEY)"
        case .noCoordinatorKey(let directory):
            "there is no \(KeyDirectory.coordinatorFile) in \(directory); `aop keys init --dir \(directory.shellWord)` makes a cluster's keys; "
                + "where they are elsewhere, AOP_KEYS names their directory"
        case .noList(let path):
            "the list of authorised keys \(path) is missing; `aop keys authorize NAME --role ROLE --dir \(KeyDirectory.of(path).shellWord)` makes it"
        case .listMode(let path, let mode):
            "the list of authorised keys \(path) has mode \(Self.octal(mode)), and must have 0600; chmod 600 \(path.shellWord)"
                + (mode & 0o022 == 0 ? "" : ", and see with `aop keys list\(Self.flag(path))` whether all in it are to be let in")
        case .foreignList(let path, let owner):
            "the list of authorised keys \(path) belongs to user \(owner), not to you (\(geteuid())); run as that user, which is to be the one "
                + "who runs the coordinator"
        case .peersKey(let path):
            "\(path) has a `server-key`, so it is a peer's key and no coordinator's; put the coordinator's own one there, or choose another directory"
        case .listsOwnKey(let key, let name, let path):
            "\(path) lists the coordinator's own key, as `\(name)`, and who has that is the coordinator; "
                + "`aop keys revoke --dir \(KeyDirectory.of(path).shellWord) -- '\(key)'` takes it out, `aop keys generate NAME` makes another one"
        case .ownKey(let key): "\(key) is the coordinator's own key, which no peer may have; `aop keys generate NAME` makes another one"
        case .name(Enrolment.word): "`\(Enrolment.word)` cannot name a key: the lines of join tokens begin with it"
        case .name(let name):
            "`\(name)` cannot name a key: use up to \(Principal.nameBytesMax) letters, digits and `.`, `_`, `-`, `@`, a letter or digit first"
        case .unknownPrincipal(let name, let path):
            "no key in \(path) is `\(name)`, or is called so; `aop keys list\(Self.flag(path))` shows those there are"
        case .taken(let key, let name, let path):
            "the key \(key) is authorised already, as `\(name)`; `aop keys revoke \(name)\(Self.flag(path))` takes that back"
        case .ofAToken(let key, let name):
            "\(key) is the key of a join token for `\(name)`, which authorises a key of the host's own when it is used (`aop keys join`)"
        case .usedToken(let name, let key, let path):
            "this join token for `\(name)` has been used; what it was exchanged for is revoked with: aop keys revoke\(Self.flag(path)) -- '\(key)'"
        case .otherJoin(let path):
            "\(path) is of a join with another coordinator, which has not come to its end; if it is given up, remove that file"
        case .busy(let path): "another process has \(path) for too long; `fuser \(path)` names it"
        case .system(let error): "\(error)"
        case .keys(let error): "\(error)"
        }
    }

    /// What makes a command work on the directory of this file.
    private static func flag(_ path: String) -> String { path.isEmpty ? "" : " --dir \(KeyDirectory.of(path).shellWord)" }

    private static func list(_ names: [String]) -> String { names.joined(separator: " or ") }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
