/// The marks of a timeline.
struct TimeAxis: Sendable {
    private static let steps: [Int64] = {
        let milliseconds: [Int64] = [1, 2, 5, 10, 20, 50, 100, 200, 500]
        let seconds: [Int64] = [1, 2, 5, 10, 15, 30].map { $0 * 1000 }
        let minutes: [Int64] = [1, 2, 5, 10, 15, 30].map { $0 * 60_000 }
        let hours: [Int64] = [1, 2, 3, 6, 12].map { $0 * 3_600_000 }
        let days: [Int64] = [1, 2, 7, 14, 30, 60, 120, 365, 730, 3650].map { $0 * 86_400_000 }
        return milliseconds + seconds + minutes + hours + days
    }()

    /// Milliseconds between two marks.
    let step: Int64
    let marks: [Int64]

    /// - Parameters:
    ///   - span: milliseconds from the first mark to the end.
    ///   - count: about so many marks; never more than three more.
    init(span: Int64, count: Int) {
        let wanted = max(1, span / Int64(max(1, count)))
        step = Self.steps.first { $0 >= wanted } ?? wanted
        marks = Array(stride(from: 0, through: max(0, span), by: Int64.Stride(step)))
    }

    /// `250 ms`, `1.5 s`, `2 min`, `1 h 30 min`, `3 d`.
    static func text(_ milliseconds: Int64) -> String {
        func parts(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String) -> String {
            small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
        }
        switch milliseconds {
        case 0: return "0"
        case ..<1000: return "\(milliseconds) ms"
        case ..<60_000:
            let tenths = milliseconds % 1000 / 100
            return tenths == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds / 1000).\(tenths) s"
        case ..<3_600_000: return parts(milliseconds / 60_000, "min", milliseconds / 1000 % 60, "s")
        case ..<86_400_000: return parts(milliseconds / 3_600_000, "h", milliseconds / 60_000 % 60, "min")
        default: return parts(milliseconds / 86_400_000, "d", milliseconds / 3_600_000 % 24, "h")
        }
    }
}
