/// Names of types as processes compare them.
enum TypeName {
    /// The name without the labels of tuples, which make no difference, and without the addresses by which a process tells
    /// apart private types of one name.
    static func comparable(_ name: String) -> String {
        var result: [Character] = []
        var rest = name[...]
        while let next = rest.first {
            if rest.hasPrefix(": ") {
                while let last = result.last, last.isLetter || last.isNumber || last == "_" { result.removeLast() }
                rest = rest.dropFirst(2)
            } else if rest.hasPrefix("(unknown context at "), let end = rest.firstIndex(of: ")") {
                rest = rest[rest.index(after: end)...]
                if rest.first == "." { rest = rest.dropFirst() }
            } else {
                result.append(next)
                rest = rest.dropFirst()
            }
        }
        return String(result)
    }
}
