import Foundation
import Wire

/// Whether a coordinator can keep its data, and for how long.
struct DataCheck {
    let path: String
    /// Bytes that are to be free.
    let reserve: Int64

    func findings() -> [Finding] {
        var place = path
        while access(place, F_OK) != 0, place != "/", !place.isEmpty { place = (place as NSString).deletingLastPathComponent }
        let isThere = place == path
        if let problem = problem(place, isThere: isThere) { return [problem] }
        var findings = [Finding(.data, .ok, isThere ? path : "\(path) is not there yet, and can be made")]
        var status = statvfs()
        guard statvfs(place, &status) == 0 else {
            return findings + [Finding(.data, .warning, "the free space of \(place) is not known: \(String(cString: strerror(errno)))")]
        }
        let free = Int64(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
        findings.append(space(free: free))
        if status.f_files > 0, status.f_favail < Self.filesMin {
            findings.append(
                Finding(.data, .warning, "\(status.f_favail) more files fit the disk of \(path)", remedy: "remove small files there"))
        }
        return findings
    }

    /// With fewer that are free it is told.
    private static let filesMin: UInt = 10_000

    private func problem(_ place: String, isThere: Bool) -> Finding? {
        var status = stat()
        guard stat(place, &status) == 0 else {
            return Finding(
                .data, .error, "\(place) cannot be looked at: \(String(cString: strerror(errno)))",
                remedy: "name another directory with --data (AOP_DATA)")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return Finding(.data, .error, "\(place) is no directory", remedy: "name another with --data (AOP_DATA), or move that file away")
        }
        if isThere, status.st_mode & 0o022 != 0 {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            return Finding(
                .data, .error, "\(path) has mode \(mode): other users could change the journal",
                remedy: "chmod go-w \(path.shellWord), or name a directory of your own with --data (AOP_DATA)")
        }
        guard access(place, W_OK | X_OK) == 0 else {
            return Finding(
                .data, .error, "you (user \(geteuid())) may not write to \(place), of user \(status.st_uid)",
                remedy: "name another directory with --data (AOP_DATA), or run as that user")
        }
        return nil
    }

    func space(free: Int64) -> Finding {
        let (have, want) = (Self.gibibytes(free), Self.gibibytes(reserve))
        let remedy = "make room there, `aop journal prune` forgets old submissions, or name another directory with --data (AOP_DATA)"
        if free < reserve {
            return Finding(
                .data, .error,
                "\(have) GiB are free for \(path), less than the \(want) GiB of disk-reserve as it is set here: new submissions are answered \"busy\"",
                remedy: remedy)
        }
        if free < reserve.multipliedReportingOverflow(by: 2).partialValue {
            return Finding(
                .data, .warning,
                "\(have) GiB are free for \(path); below \(want) GiB (disk-reserve as it is set here) new submissions are answered \"busy\"",
                remedy: remedy
            )
        }
        return Finding(.data, .ok, "\(have) GiB are free for it")
    }

    private static func gibibytes(_ bytes: Int64) -> String {
        let tenths = bytes / ((1 << 30) / 10)
        return "\(tenths / 10).\(tenths % 10)"
    }
}
