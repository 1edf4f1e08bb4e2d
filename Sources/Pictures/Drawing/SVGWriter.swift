/// Writes an SVG, element by element.
struct SVGWriter {
    private(set) var text: String

    /// - Parameter label: what the picture is, for those who cannot see it.
    init(width: Double, height: Double, label: String) {
        let (w, h) = (Self.number(width), Self.number(height))
        text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="\(w)" height="\(h)" viewBox="0 0 \(w) \(h)" role="img">
            <title>\(PictureText.xml(label))</title>
            <style>\(Palette.styleSheet)</style>
            <rect class="paper" width="\(w)" height="\(h)"/>

            """
    }

    mutating func end() { text += "</svg>\n" }

    /// - Parameters:
    ///   - label: what a reader is told who points at it; empty: nothing.
    ///   - isFramed: with a thin line around it.
    mutating func rect(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, radius: Double = 0, classes: String, label: String = "",
        isFramed: Bool = false
    ) {
        text += "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(width))\" height=\"\(Self.number(height))\""
        if radius > 0 { text += " rx=\"\(Self.number(radius))\"" }
        text += " class=\"\(classes)\(isFramed ? " edge" : "")\""
        text += label.isEmpty ? "/>\n" : "><title>\(PictureText.xml(label))</title></rect>\n"
    }

    mutating func circle(_ x: Double, _ y: Double, _ radius: Double, classes: String) {
        text += "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"\(Self.number(radius))\" class=\"\(classes)\"/>\n"
    }

    mutating func words(_ words: String, _ x: Double, _ y: Double, classes: String) {
        guard !words.isEmpty else { return }
        text += "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" class=\"\(classes)\">\(PictureText.xml(words))</text>\n"
    }

    mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
        text += "<path d=\"M\(Self.number(x1)) \(Self.number(y1))L\(Self.number(x2)) \(Self.number(y2))\" class=\"edge\"/>\n"
    }

    /// From left to right.
    mutating func arrow(from x1: Double, _ y1: Double, to x2: Double, _ y2: Double) {
        let bend = max(14, (x2 - x1) / 2)
        let n = Self.number
        text += "<path class=\"arrow\" d=\"M\(n(x1)) \(n(y1))C\(n(x1 + bend)) \(n(y1)) \(n(x2 - bend)) \(n(y2)) \(n(x2 - 5)) \(n(y2))\"/>"
        text += "<path class=\"tip f-none\" d=\"M\(n(x2)) \(n(y2))l-7 -3.6v7.2z\"/>\n"
    }

    mutating func open(label: String) { text += "<g><title>\(PictureText.xml(label))</title>\n" }
    mutating func close() { text += "</g>\n" }

    /// To a tenth of a pixel.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
