import Testing

@testable import aop

@Suite struct LiveAreaTests {
    private let wide = TerminalSize(columns: 80, rows: 24)

    @Test func pictures_takeThePlaceOfTheOneBefore_andTheCursorComesBackOnce() {
        var area = LiveArea()
        #expect(area.draw(["one", "two"], on: wide) == "\u{1B}[?25lone\u{1B}[K\ntwo\u{1B}[K\n\u{1B}[J")
        #expect(area.draw(["three"], on: wide) == "\u{1B}[2A\rthree\u{1B}[K\n\u{1B}[J")
        #expect(area.finish(on: wide) == "\u{1B}[1A\r\u{1B}[J\u{1B}[?25h")
        #expect(area.finish(on: wide).isEmpty)
        #expect(area.erase(on: wide).isEmpty)
    }

    /// A line of 60 columns is shown on two rows of 40, one of 20 on one.
    @Test func linesThatANarrowerTerminalBreaks_areTakenAwayWhole() {
        var area = LiveArea()
        let style = Style(isEnabled: true)
        _ = area.draw([style.bold(String(repeating: "x", count: 60)), style.dim(String(repeating: "y", count: 20))], on: wide)
        #expect(area.erase(on: TerminalSize(columns: 40, rows: 24)) == "\u{1B}[3A\r\u{1B}[J")
    }

    @Test func moreThanTheTerminalHasRowsFor_isLeftOut() {
        var area = LiveArea()
        let low = TerminalSize(columns: 80, rows: 3)
        #expect(area.draw(["1", "2", "3", "4"], on: low) == "\u{1B}[?25l1\u{1B}[K\n2\u{1B}[K\n\u{1B}[J")
        #expect(area.erase(on: low) == "\u{1B}[2A\r\u{1B}[J")
    }

    @Test(arguments: ["", "plain", "\u{1B}[1mbold\u{1B}[0m and \u{1B}[31mred\u{1B}[0m", "\u{1B}[31"])
    func codesOfColours_takeNoColumns(_ text: String) {
        let seen = ["", "plain", "bold and red", ""]
        #expect(seen.contains(Style.withoutCodes(text)), "\(text.debugDescription)")
        #expect(!Style.withoutCodes(text).contains("\u{1B}"))
    }
}
