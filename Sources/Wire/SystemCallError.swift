import Glibc

/// A system call that failed: which, on what, and why.
public struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call, e.g. `open`.
    public let operation: String
    /// What it was about, e.g. a path; nil when there is nothing to name.
    public let subject: String?
    public let errno: Int32
    /// What to do about it, when that is known.
    public let remedy: String?

    public init(operation: String, subject: String? = nil, errno: Int32, remedy: String? = nil) {
        self.operation = operation
        self.subject = subject
        self.errno = errno
        self.remedy = remedy
    }

    public var description: String {
        let cause = "\(operation) failed\(subject.map { " for \($0)" } ?? ""): \(Self.text(of: errno))"
        return remedy.map { "\(cause); \($0)" } ?? cause
    }

    static func text(of code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "errno \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
