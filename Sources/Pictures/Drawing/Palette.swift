/// The colours of pictures: those of the dashboard (`dashboard.css`), which a test compares.
enum Palette {
    struct Colour: Sendable {
        var name: String
        var light: String
        var dark: String
    }

    static let surfaces = [
        Colour(name: "ink", light: "#1b2129", dark: "#e6eaf0"), Colour(name: "muted", light: "#5d6774", dark: "#97a1af"),
        Colour(name: "line", light: "#dde1e7", dark: "#2c333d"), Colour(name: "paper", light: "#f6f7f9", dark: "#13171c"),
        Colour(name: "card", light: "#ffffff", dark: "#1b2027"), Colour(name: "box", light: "#eef0f4", dark: "#191e25"),
    ]

    static let states = [
        Colour(name: "blocked", light: "#b4bcc7", dark: "#4b5562"), Colour(name: "queued", light: "#98a3b1", dark: "#6b7684"),
        Colour(name: "locking", light: "#b08a3c", dark: "#c49c4c"), Colour(name: "evaluating", light: "#8d86c9", dark: "#9d97dc"),
        Colour(name: "running", light: "#2f6fe0", dark: "#5b93f5"), Colour(name: "stopping", light: "#c77b30", dark: "#dd9650"),
        Colour(name: "retrying", light: "#d08a1d", dark: "#e2a440"), Colour(name: "paused", light: "#8a63c2", dark: "#a884de"),
        Colour(name: "succeeded", light: "#35a067", dark: "#46b57b"), Colour(name: "failed", light: "#d23f3f", dark: "#ea6262"),
        Colour(name: "cancelled", light: "#7d8794", dark: "#848e9b"),
    ]

    /// The class that fills something in the colour of a state; nil, and states of a newer coordinator: none of them.
    static func fill(_ state: String?) -> String {
        states.contains { $0.name == state } ? "f-\(state ?? "")" : "f-none"
    }

    /// In formats that have one colour for light and dark.
    static func light(_ state: String?) -> String { (states.first { $0.name == state } ?? states[0]).light }

    /// For the `style` of an SVG: each colour as a class that fills, in light and in dark.
    static let styleSheet: String = {
        func rules(_ colour: KeyPath<Colour, String>) -> String {
            let fills =
                surfaces.map { ".\($0.name){fill:\($0[keyPath: colour])}" } + states.map { ".f-\($0.name){fill:\($0[keyPath: colour])}" }
            func of(_ name: String) -> String { (surfaces.first { $0.name == name } ?? surfaces[0])[keyPath: colour] }
            return fills.joined() + ".f-none{fill:\(of("muted"))}.edge{stroke:\(of("line"))}.arrow{stroke:\(of("muted"))}"
        }
        return """
            text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}\
            .title{font-size:15px;font-weight:650}.name{font-weight:600}.small{font-size:11px}.end{text-anchor:end}.middle{text-anchor:middle}\
            .arrow{fill:none;stroke-width:1.4;opacity:.75}.tip{opacity:.75}.quiet{opacity:.35}\(rules(\.light))\
            @media (prefers-color-scheme:dark){\(rules(\.dark))}
            """
    }()
}
