import Wire

/// A message that decodes but does not say anything the protocol allows: the text names the field, its value and the bound.
public struct TranslationError: Error, Hashable, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }

    /// - Throws: when the text is longer than a name may be.
    static func checkName(_ text: String, _ what: String) throws(TranslationError) {
        try checkLength(text, what, limit: Limits.nameBytes, named: "nameBytes")
    }

    /// - Throws: when the text is longer than a key or a label may be.
    static func checkKey(_ text: String, _ what: String) throws(TranslationError) {
        try checkLength(text, what, limit: Limits.keyBytes, named: "keyBytes")
    }

    private static func checkLength(_ text: String, _ what: String, limit: Int, named name: String) throws(TranslationError) {
        guard text.utf8.count <= limit else {
            throw TranslationError("\(what) has \(text.utf8.count) bytes; the limit is \(limit) (\(name))")
        }
    }

    /// - Throws: when there are more than `limit`.
    static func checkCount(_ count: Int, _ what: String, limit: Int, named name: String) throws(TranslationError) {
        guard count <= limit else { throw TranslationError("\(count) \(what); the limit is \(limit) (\(name))") }
    }

    /// - Throws: when JSON that travels within assignments is too large for that.
    static func checkBytes(_ count: Int, _ what: @autoclosure () -> String) throws(TranslationError) {
        guard count <= Limits.parameterBytes else {
            throw TranslationError(
                "\(what()) of \(count) bytes; the limit is \(Limits.parameterBytes) (parameterBytes): "
                    + "hand large data over as a file or as another operation's value")
        }
    }
}
