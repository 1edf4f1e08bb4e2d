import Foundation

/// The size of a terminal in characters.
struct TerminalSize: Hashable, Sendable {
    var columns: Int
    var rows: Int

    static let standard = TerminalSize(columns: 80, rows: 24)

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// Of the terminal behind a descriptor; what it does not say is as in ``standard``.
    init(of descriptor: Int32) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0
        columns = isKnown && size.ws_col > 0 ? Int(size.ws_col) : Self.standard.columns
        rows = isKnown && size.ws_row > 0 ? Int(size.ws_row) : Self.standard.rows
    }
}

/// The lines at the bottom of a terminal that are drawn over and over, as what is written to it: pure.
///
/// The terminal may change its size between two pictures. Most then break lines that have become too long, and what is drawn over
/// is counted as they show it.
struct LiveArea: Sendable {
    /// Columns of the lines that are on the screen.
    private var drawn: [Int] = []
    private var isCursorHidden = false

    /// What takes the picture before away and shows this one, or as much of it as the terminal has room for.
    mutating func draw(_ lines: [String], on size: TerminalSize) -> String {
        guard !lines.isEmpty else { return erase(on: size) }
        let shown = lines.prefix(max(1, size.rows - 1))
        var text = isCursorHidden ? "" : "\u{1B}[?25l"
        isCursorHidden = true
        text += toTop(size) + shown.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
        drawn = shown.map { DisplayWidth.of(Style.withoutCodes($0)) }
        return text
    }

    /// What takes the picture away, so that something else can be written in its place.
    mutating func erase(on size: TerminalSize) -> String {
        guard !drawn.isEmpty else { return "" }
        defer { drawn = [] }
        return toTop(size) + "\u{1B}[J"
    }

    /// What takes the picture away for good and gives the cursor back.
    mutating func finish(on size: TerminalSize) -> String {
        let text = erase(on: size)
        defer { isCursorHidden = false }
        return isCursorHidden ? text + "\u{1B}[?25h" : text
    }

    private func toTop(_ size: TerminalSize) -> String {
        let columns = max(1, size.columns)
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
        return rows > 0 ? "\u{1B}[\(rows)A\r" : ""
    }
}
