import Glibc

/// The name of this host.
public enum HostName {
    /// As `gethostname` has it, without asking any name server; "unknown" if it has none.
    public static let current: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
