import Shapes
import Wire

/// The live area of a terminal as lines, for a given width: pure.
struct ProgressScreen {
    static let operationsShown = 4

    var model: ProgressModel
    var style: Style

    func lines(width: Int, now: Int64) -> [String] {
        guard let view = model.view else { return [] }
        var lines = [headline(view, width: width, now: now)]
        let operations = model.longestRunning(Self.operationsShown)
        for operation in operations {
            let time = TimeText.duration(milliseconds: now - operation.since)
            let worker = operation.worker.isEmpty ? "" : "  \(operation.worker)"
            let progress = operation.progress.isEmpty ? "" : "  \(operation.progress)"
            lines.append(style.dim(DisplayWidth.cut("  ▸ \(operation.path)  \(time)\(worker)\(progress)", to: width)))
        }
        let others = Int(clamping: view.counts.running) - operations.count
        if others > 0, !operations.isEmpty { lines.append(style.dim(DisplayWidth.cut("    and \(others) more", to: width))) }
        if let interruption = model.interruption {
            lines.append(style.yellow(DisplayWidth.cut("  the coordinator is not heard (\(interruption)); trying again", to: width)))
        }
        return lines
    }

    private func headline(_ view: WireSubmissionView, width: Int, now: Int64) -> String {
        let counts = view.counts
        var parts = ["\(counts.ended)/\(counts.total)"]
        if counts.running > 0 { parts.append("\(counts.running) running") }
        if counts.pending > 0 { parts.append("\(counts.pending) waiting") }
        if counts.failed > 0 { parts.append("\(counts.failed) failed") }
        if counts.cancelled > 0 { parts.append("\(counts.cancelled) cancelled") }
        if view.state == .paused { parts.append("paused") }
        if let rate = model.rate(now: now) { parts.append(rateText(rate)) }
        parts.append(TimeText.duration(milliseconds: max(0, now - view.submittedAt)))
        if let left = model.timeLeft(now: now) { parts.append("\(TimeText.duration(milliseconds: left)) left") }
        let name = DisplayWidth.cut(view.name.isEmpty ? view.id : view.name, to: 24)
        let tail = parts.joined(separator: "  ")
        let room = width - DisplayWidth.of(name) - DisplayWidth.of(tail) - 4
        guard room >= 8 else { return DisplayWidth.cut("\(name)  \(tail)", to: width) }
        return "\(style.bold(name))  \(bar(counts, width: min(room, 30)))  \(tail)"
    }

    private func bar(_ counts: WireCounts, width: Int) -> String {
        guard counts.total > 0 else { return String(repeating: "░", count: width) }
        func columns(_ number: UInt64) -> Int { Int(Double(number) / Double(counts.total) * Double(width)) }
        let ended = columns(counts.ended)
        let bad = counts.failed + counts.cancelled > 0 ? max(1, columns(counts.failed + counts.cancelled)) : 0
        let good = max(0, ended - bad)
        let rest = max(0, width - good - bad)
        return style.green(String(repeating: "█", count: good)) + style.red(String(repeating: "█", count: bad))
            + style.dim(String(repeating: "░", count: rest))
    }

    private func rateText(_ rate: Double) -> String {
        rate >= 10 ? "\(Int(rate))/s" : "\(Double(Int(rate * 10)) / 10)/s"
    }
}
