/// A YAML file that is one map of names to texts or to lists of texts, as settings are written.
package struct FlatFile: Sendable {
    package struct Entry: Sendable, Hashable {
        package let name: String
        package let texts: [String]
        /// Written as a list.
        package let isList: Bool
        /// Of its name.
        package let position: GraphFilePosition
    }

    package let entries: [Entry]

    /// Reads the file; an empty one has no entries.
    ///
    /// - Throws: ``GraphFileErrors``: it cannot be read, is no such map, or has a name twice.
    package init(path: String) throws(GraphFileErrors) {
        let bytes: [UInt8]
        do throws(SourceProblem) { bytes = try FileContents.read(path: path) } catch {
            throw GraphFileErrors([GraphFileError(file: path, position: error.position, message: error.message)])
        }
        try self.init(bytes: bytes, path: path)
    }

    /// - Parameter path: for the errors.
    package init(bytes: [UInt8], path: String) throws(GraphFileErrors) {
        do throws(SourceProblem) { entries = try Self.entries(bytes) } catch {
            throw GraphFileErrors([GraphFileError(file: path, position: error.position, message: error.message)])
        }
    }

    private static func entries(_ bytes: [UInt8]) throws(SourceProblem) -> [Entry] {
        let document: SourceDocument
        do throws(SourceProblem) {
            document = try SourceDocument(SourceText(bytes))
        } catch {
            // Nothing but comments is a file, too.
            if error.message == SourceText.empty.message { return [] }
            throw error
        }
        let root = document[document.root]
        guard case .mapping(let members) = root.content else {
            throw SourceProblem(
                position: root.position, message: "expected settings as `name: value`, found \(document.description(document.root))")
        }
        var entries: [Entry] = []
        var seen: Set<String> = []
        for member in members {
            let position = document[member.key].position
            guard let name = document.scalar(member.key)?.text else {
                throw SourceProblem(
                    position: position, message: "expected the name of a setting, found \(document.description(member.key))")
            }
            guard seen.insert(name).inserted else { throw SourceProblem(position: position, message: "\(quoted(name)) is named twice") }
            entries.append(try entry(name, at: position, member.value, in: document))
        }
        return entries
    }

    private static func entry(
        _ name: String, at position: GraphFilePosition, _ index: Int, in document: SourceDocument
    ) throws(SourceProblem) -> Entry {
        let value = document[index]
        switch value.content {
        case .scalar(let scalar): return Entry(name: name, texts: [text(scalar)], isList: false, position: position)
        case .sequence(let elements):
            var texts: [String] = []
            for element in elements {
                guard let scalar = document.scalar(element) else {
                    throw SourceProblem(
                        position: document[element].position,
                        message: "\(name): expected a list of texts or numbers, found \(document.description(element)) in it")
                }
                texts.append(text(scalar))
            }
            return Entry(name: name, texts: texts, isList: true, position: position)
        case .mapping:
            throw SourceProblem(position: value.position, message: "\(name): expected a value or a list, found a map")
        }
    }

    /// Nothing is an empty text; all else is as it stands there.
    private static func text(_ scalar: SourceScalar) -> String { scalar.value == .null ? "" : scalar.text }
}

extension Suggestions {
    /// Nil: nothing is near.
    package static func nearest(to name: String, among names: [String]) -> String? {
        var suggestions = Suggestions()
        return suggestions.nearest(to: name, among: names)
    }

    /// `, did you mean …?`, or nothing.
    package static func hint(for name: String, among names: [String]) -> String {
        var suggestions = Suggestions()
        return suggestions.hint(for: name, among: names)
    }
}
