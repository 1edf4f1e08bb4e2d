import Foundation
import Synchronization

/// Spans that were lost since a collector went away, counted by all processes that one command has started, so that its going away and its
/// coming back are told once: by whoever loses the first span, and by whoever is rid of one again.
///
/// Shared by a file that is there only while the collector is away. Each of them adds a line with how many it has lost.
final class SpanLosses: Sendable {
    /// Names the file for processes that are started by this one.
    static let variable = "AOP_SPANS_LOST"
    /// Between two times that the same process tells of its coming back: one that comes and goes is not told with each batch.
    static let quietMilliseconds: Int64 = 60_000

    private let path: String?
    private let now: @Sendable () -> Int64
    private struct State {
        /// Without a file: how many, while it is away.
        var lost: Int?
        var toldAt: Int64?
    }
    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: nil: of this process alone.
    ///   - now: milliseconds of a clock that does not go back.
    init(path: String?, now: @escaping @Sendable () -> Int64) { (self.path, self.now) = (path, now) }

    /// For this process and those that it starts: the file that whoever has started it has named, or one of its own.
    ///
    /// - Returns: the path; to be removed at the end by whoever has named it.
    static func path(in environment: [String: String], directory: String = NSTemporaryDirectory()) -> (path: String, isOwn: Bool) {
        if let path = environment[variable], !path.isEmpty { return (path, false) }
        let path = "\(directory.hasSuffix("/") ? directory : directory + "/")aop-spans-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        setenv(variable, path, 1)
        return (path, true)
    }

    /// - Returns: whether they are the first since it went away.
    func note(_ count: Int) -> Bool {
        // Where no file can be, each tells of its own.
        guard let path, let (descriptor, isFirst) = Self.open(path) else {
            return state.withLock { state in
                defer { state.lost = (state.lost ?? 0) + count }
                return state.lost == nil
            }
        }
        defer { close(descriptor) }
        let line = Array("\(count)\n".utf8)
        _ = write(descriptor, line, line.count)
        return isFirst
    }

    private static func open(_ path: String) -> (descriptor: Int32, isFirst: Bool)? {
        let made = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if made >= 0 { return (made, true) }
        let found = Glibc.open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
        return found >= 0 ? (found, false) : nil
    }

    /// Somebody is rid of spans: how many were lost before, if that is to be told now; nil: none were, or that is told by somebody else, or later.
    func takeBack() -> Int? {
        let now = self.now()
        return state.withLock { state in
            if let told = state.toldAt, now - told < Self.quietMilliseconds { return nil }
            guard let lost = state.lost ?? path.flatMap(Self.take) else { return nil }
            state = State(lost: nil, toldAt: now)
            return lost
        }
    }

    /// Who renames it has it alone.
    private static func take(_ path: String) -> Int? {
        let own = "\(path).\(getpid())"
        guard access(path, F_OK) == 0, rename(path, own) == 0 else { return nil }
        defer { unlink(own) }
        guard let text = try? String(contentsOfFile: own, encoding: .utf8) else { return nil }
        return text.split(separator: "\n").reduce(0) { $0 + (Int($1) ?? 0) }
    }
}
