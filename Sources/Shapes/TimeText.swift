import Foundation

/// Times and durations as people and scripts read them.
package enum TimeText {
    /// Milliseconds since 1970 as `2026-11-21T09:30:00.125Z`.
    package static func rfc3339(_ milliseconds: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// `85 ms`, `12.3 s`, `3 min 05 s`, `2 h 07 min`.
    package static func duration(milliseconds: Int64) -> String {
        if milliseconds < 1000 { return "\(max(0, milliseconds)) ms" }
        let tenths = max(0, milliseconds) / 100
        let seconds = tenths / 10
        switch seconds {
        case ..<60: return "\(seconds).\(tenths % 10) s"
        case ..<3600: return "\(seconds / 60) min \(twoDigits(seconds % 60)) s"
        default: return "\(seconds / 3600) h \(twoDigits(seconds / 60 % 60)) min"
        }
    }

    /// How long ago, or `-` for never.
    package static func age(_ milliseconds: Int64, now: Int64) -> String {
        milliseconds == 0 ? "-" : "\(duration(milliseconds: now - milliseconds)) ago"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
