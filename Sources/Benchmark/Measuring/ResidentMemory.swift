import Foundation

/// How far the process's resident memory rises, by the kernel's own mark (proc(5): `clear_refs`, `VmHWM`).
struct ResidentMemory {
    private let before: Int

    /// Starts to watch; nil where the system does not let a process do that.
    static func watchPeak() -> ResidentMemory? {
        let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard write(descriptor, "5", 1) == 1, let resident = bytes(of: "VmRSS") else { return nil }
        return ResidentMemory(before: resident)
    }

    /// By how many bytes the highest mark since ``watchPeak()`` exceeds what was resident then.
    var growthAtPeak: Int? { Self.bytes(of: "VmHWM").map { max(0, $0 - before) } }

    private static func bytes(of field: String) -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        for line in status.split(separator: "\n") where line.hasPrefix("\(field):") {
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.count > 1 ? Int(words[1]).map { $0 * 1024 } : nil
        }
        return nil
    }
}
