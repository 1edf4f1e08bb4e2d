/// A scalar as it stands in the file.
struct SourceScalar {
    var text: String
    /// Written without quotes, so that it may mean null, a Boolean or a number.
    var isPlain: Bool
}

struct SourceEntry {
    var key: Int
    var value: Int
}

/// A value of the file and its place.
struct SourceValue {
    enum Content {
        case scalar(SourceScalar)
        case sequence([Int])
        case mapping([SourceEntry])
    }
    var content: Content
    var position: GraphFilePosition
    /// Levels of lists and maps in it, aliases followed; 0 for a scalar.
    var height: Int32
    /// Values in it and itself, aliases counted as often as they are used.
    var weight: Int32
}

/// The one document of a graph file as a flat table of values that refer to each other by index.
/// An alias is a second reference to the value it names, so that what follows never needs to know of aliases.
struct SourceDocument {
    private let values: [SourceValue]
    let root: Int

    init(values: [SourceValue], root: Int) {
        self.values = values
        self.root = root
    }

    subscript(_ index: Int) -> SourceValue { values[index] }

    /// The scalar at an index; nil: a list or a map.
    func scalar(_ index: Int) -> SourceScalar? {
        if case .scalar(let scalar) = values[index].content { scalar } else { nil }
    }

    /// What stands there, in words that fit "found …".
    func description(_ index: Int) -> String {
        switch values[index].content {
        case .sequence: "a list"
        case .mapping: "a map"
        case .scalar(let scalar):
            switch scalar.value {
            case .null: "nothing"
            case .bool, .number: quoted(scalar.text)
            case .text: "text \(quoted(scalar.text))"
            }
        }
    }
}

/// A value between back quotes, shortened to what fits a message, control characters escaped.
func quoted(_ text: String) -> String {
    let shown = text.unicodeScalars.prefix(60)
    var result = ""
    for scalar in shown {
        switch scalar {
        case "\n": result += "\\n"
        case "\t": result += "\\t"
        case "\r": result += "\\r"
        case let control where control.value < 0x20 || control.value == 0x7F: result += "\\u{\(String(control.value, radix: 16))}"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return shown.endIndex < text.unicodeScalars.endIndex ? "`\(result)…`" : "`\(result)`"
}
