import Shapes

/// A timeline as an SVG, light and dark: lines for each worker, and above them where attempts failed or were lost.
package struct TimelineSVG: Sendable {
    private static let width = 1200.0
    private static let left = 150.0
    private static let right = 24.0
    private static let headHeight = 58.0
    private static let rowHeight = 18.0
    private static let footHeight = 40.0
    /// Pixels between marks of failures; closer ones are one.
    private static let markWidth = 4.0
    private static let marks = 10

    private let timeline: Timeline
    private let scale: Double

    package init(_ timeline: Timeline) {
        self.timeline = timeline
        scale = (Self.width - Self.left - Self.right) / Double(timeline.end - timeline.start)
    }

    /// - Complexity: O(bars); its size is bounded by that of the picture.
    package var text: String {
        let lanes = timeline.lanes.prefix(PictureLimits.lanesMax)
        let hidden = timeline.lanes.dropFirst(PictureLimits.lanesMax)
        let hasMarks = !timeline.losses.isEmpty || timeline.lanes.contains { $0.bars.contains { $0.mark == "failed" } }
        let rows = lanes.count + (hasMarks ? 1 : 0) + (hidden.isEmpty ? 0 : 1)
        let top = Self.headHeight + 24
        let height = top + Double(max(1, rows)) * Self.rowHeight + Self.footHeight
        var svg = SVGWriter(width: Self.width, height: height, label: "\(timeline.name): \(summary)")
        svg.words(PictureText.cut(timeline.name, to: Self.width - 32, size: 15), 16, 26, classes: "ink title")
        svg.words(summary, 16, 43, classes: "muted")
        drawAxis(top, bottom: height - Self.footHeight + 4, &svg)
        var y = top
        if hasMarks {
            drawMarks(y, &svg)
            y += Self.rowHeight
        }
        var worker = ""
        for lane in lanes {
            if lane.worker != worker {
                worker = lane.worker
                svg.words(PictureText.cut(worker, to: Self.left - 28), 16, y + 12, classes: "ink")
            }
            draw(lane, y, &svg)
            y += Self.rowHeight
        }
        if !hidden.isEmpty { svg.words(Self.told(hidden), 16, y + 13, classes: "muted") }
        if timeline.lanes.isEmpty { svg.words("nothing has begun yet", Self.left, top + 13, classes: "muted") }
        drawLegend(height - 14, &svg)
        svg.end()
        return svg.text
    }

    private var summary: String {
        let failed = timeline.bars.count { $0.mark == "failed" }
        let again = timeline.bars.count { $0.isEarlier && $0.mark != Timeline.Bar.lost }
        return PictureText.joined([
            timeline.state, TimeText.rfc3339(timeline.start), "\(TimeAxis.text(timeline.end - timeline.start))",
            "\(timeline.begun) begun", failed > 0 ? "\(failed) failed" : "",
            again > 0 ? "\(again) attempt\(again == 1 ? "" : "s") tried again" : "",
            timeline.losses.isEmpty ? "" : "\(timeline.losses.count) attempt\(timeline.losses.count == 1 ? "" : "s") lost",
        ])
    }

    private static func told(_ hidden: ArraySlice<Timeline.Lane>) -> String {
        let bars = hidden.reduce(0) { $0 + $1.bars.count }
        let failed = hidden.reduce(0) { $0 + $1.bars.count { $0.mark == "failed" } }
        let workers = Set(hidden.map(\.worker)).count
        return "\(hidden.count) more lines of \(workers) workers with \(bars) operations, \(failed) failed, are not drawn"
    }

    private func x(_ time: Int64) -> Double { Self.left + Double(time - timeline.start) * scale }

    private func drawAxis(_ top: Double, bottom: Double, _ svg: inout SVGWriter) {
        for mark in TimeAxis(span: timeline.end - timeline.start, count: Self.marks).marks {
            let x = x(timeline.start + mark)
            svg.line(x, top - 6, x, bottom)
            svg.words(TimeAxis.text(mark), x, top - 11, classes: mark == 0 ? "muted small" : "muted small middle")
        }
    }

    private func draw(_ lane: Timeline.Lane, _ y: Double, _ svg: inout SVGWriter) {
        for block in LaneBlocks(lane, start: timeline.start, scale: scale).blocks {
            svg.rect(
                Self.left + block.x, y + 2, block.width, Self.rowHeight - 5, classes: Self.fill(block.mark), label: Self.label(block))
        }
    }

    /// What is lost has the colour of its mark above, what was tried again that of what waits for it.
    private static func fill(_ mark: String) -> String {
        switch mark {
        case Timeline.Bar.lost: Palette.fill("stopping")
        case "failed\(Timeline.Bar.again)": Palette.fill("retrying")
        case let other where other.hasSuffix(Timeline.Bar.again): Palette.fill("cancelled")
        default: Palette.fill(mark)
        }
    }

    private static func label(_ block: LaneBlocks.Block) -> String {
        guard block.count > 1, let first = block.named.first else { return block.named.first.map(label) ?? "" }
        let counts = block.tally.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let others = block.named.dropFirst().map(\.path) + (block.count > block.named.count ? ["…"] : [])
        return PictureText.joined([counts, label(first)] + others)
    }

    private static func label(_ bar: Timeline.Bar) -> String {
        PictureText.joined([
            bar.path, bar.mark, bar.attempt > 1 || bar.isEarlier ? "attempt \(bar.attempt)" : "",
            TimeText.duration(milliseconds: bar.to - bar.from), bar.error,
        ])
    }

    /// Where something failed or was lost, also of lines that are not drawn.
    private func drawMarks(_ y: Double, _ svg: inout SVGWriter) {
        svg.words("failed, lost", 16, y + 12, classes: "muted")
        let failures = timeline.bars.filter { $0.mark == "failed" }.map { (at: $0.to, isLoss: false, text: Self.label($0)) }
        let losses = timeline.losses.map { (at: $0.at, isLoss: true, text: "\($0.path): \($0.text)") }
        var marks: [(x: Double, isLoss: Bool, count: Int, text: String)] = []
        for event in (failures + losses).sorted(by: { ($0.at, $0.text) < ($1.at, $1.text) }) {
            let x = x(event.at)
            if let last = marks.last, x < last.x + Self.markWidth {
                marks[marks.count - 1].count += 1
                if last.isLoss, !event.isLoss { (marks[marks.count - 1].isLoss, marks[marks.count - 1].text) = (false, event.text) }
            } else {
                marks.append((x, event.isLoss, 1, event.text))
            }
        }
        for mark in marks {
            let label = mark.count > 1 ? "\(mark.count) failures and losses · \(mark.text)" : mark.text
            svg.rect(
                mark.x - 1.5, y + 1, 3, Self.rowHeight - 3, radius: 1, classes: Palette.fill(mark.isLoss ? "stopping" : "failed"),
                label: PictureText.joined([label]))
        }
    }

    private func drawLegend(_ y: Double, _ svg: inout SVGWriter) {
        var tally: [String: Int] = [:]
        for bar in timeline.bars { tally[bar.mark, default: 0] += 1 }
        var x = 16.0
        func entry(_ state: String, _ text: String) {
            svg.circle(x + 4, y - 4, 4, classes: Self.fill(state))
            svg.words(text, x + 13, y, classes: "muted")
            x += 32 + Double(text.count) * 7
        }
        for state in Palette.states.map(\.name) {
            if let count = tally[state] { entry(state, "\(state) \(count)") }
        }
        for (mark, count) in tally.sorted(by: { $0.key < $1.key }) where mark.hasSuffix(Timeline.Bar.again) {
            entry(mark, "\(mark) \(count)")
        }
        if !timeline.losses.isEmpty { entry("stopping", "attempts lost \(timeline.losses.count)") }
    }
}
