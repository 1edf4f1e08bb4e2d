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

    /// What it says, in its order, and what cannot be taken for an entry.
    package let entries: [Result<Entry, GraphFileError>]

    /// Reads the file; an empty one has no entries.
    ///
    /// - Throws: ``GraphFileError``: it cannot be read, or is no such map.
    package init(path: String) throws(GraphFileError) {
        let bytes: [UInt8]
        do throws(SourceProblem) { bytes = try FileContents.read(path: path) } catch {
            throw GraphFileError(file: path, position: error.position, message: error.message)
        }
        try self.init(bytes: bytes, path: path)
    }

    /// - Parameter path: for the errors.
    package init(bytes: [UInt8], path: String) throws(GraphFileError) {
        do throws(SourceProblem) {
            entries = try Self.entries(bytes).map { entry in
                entry.mapError { GraphFileError(file: path, position: $0.position, message: $0.message) }
            }
        } catch {
            throw GraphFileError(file: path, position: error.position, message: error.message)
        }
    }

    private static func entries(_ bytes: [UInt8]) throws(SourceProblem) -> [Result<Entry, SourceProblem>] {
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
        var seen: Set<String> = []
        return members.flatMap { member -> [Result<Entry, SourceProblem>] in
            let position = document[member.key].position
            guard let name = document.scalar(member.key)?.text else {
                let message = "expected the name of a setting, found \(document.description(member.key))"
                return [.failure(SourceProblem(position: position, message: message))]
            }
            guard seen.insert(name).inserted else {
                return [.failure(SourceProblem(position: position, message: "\(quoted(name)) is named twice"))]
            }
            return entry(name, at: position, member.value, in: document)
        }
    }

    /// The entry, or all that keeps it from being one.
    private static func entry(
        _ name: String, at position: GraphFilePosition, _ index: Int, in document: SourceDocument
    ) -> [Result<Entry, SourceProblem>] {
        let value = document[index]
        switch value.content {
        case .scalar(let scalar): return [.success(Entry(name: name, texts: [text(scalar)], isList: false, position: position))]
        case .sequence(let elements):
            let problems = elements.filter { document.scalar($0) == nil }.map { element in
                SourceProblem(
                    position: document[element].position,
                    message: "\(name): expected a list of texts or numbers, found \(document.description(element)) in it")
            }
            guard problems.isEmpty else { return problems.map { .failure($0) } }
            let texts = elements.compactMap { document.scalar($0).map(text) }
            return [.success(Entry(name: name, texts: texts, isList: true, position: position))]
        case .mapping:
            return [.failure(SourceProblem(position: value.position, message: "\(name): expected a value or a list, found a map"))]
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
