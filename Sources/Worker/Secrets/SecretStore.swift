import Foundation
import Wire

/// The secrets of the worker's operator: files in a directory, one for each.
///
/// They are read when an operation is to run, put into its parameters there, and kept nowhere.
struct SecretStore: Sendable {
    /// A secret that cannot be used, and what to do; never anything of what is in it.
    struct Unusable: LocalizedError, Equatable {
        let name: String
        let reason: String

        var errorDescription: String? { "the secret `\(name)` \(reason)" }
    }

    /// The largest secret.
    static let bytesMax = 64 * 1024

    /// nil: there are none here.
    var directory: String?

    /// Parameters with what they name in its place. Those without a reference stay as they are.
    ///
    /// - Parameter isTemplated: whether the result is rendered: a `$` in a secret is none of a template then.
    /// - Parameter redaction: gets the secrets that were put in.
    /// - Throws: ``Unusable``, or ``JSONScanner/Malformed`` when the parameters are not JSON.
    func resolve(_ parameters: Data, isTemplated: Bool = false, noting redaction: inout Redaction) throws -> Data {
        guard parameters.firstRange(of: Data(SecretReference.member.utf8)) != nil else { return parameters }
        var secrets: [String] = []
        defer { for text in secrets { redaction.add(text) } }
        return try JSONScanner.scan(parameters) { scanner in
            var found: [(range: Range<Int>, name: String)] = []
            try Self.collect(&scanner, into: &found, depth: 0)
            try scanner.end()
            var result = Data()
            var end = 0
            for (range, name) in found {
                result.append(contentsOf: scanner.copy(end..<range.lowerBound))
                let text = try text(of: name)
                secrets.append(text)
                result.append(contentsOf: JSONText.quoted((isTemplated ? Template.literal(text) : text).utf8))
                end = range.upperBound
            }
            result.append(contentsOf: scanner.copy(end..<scanner.offset))
            return result
        }
    }

    /// Places of references, in order.
    private static func collect(
        _ scanner: inout JSONScanner, into found: inout [(range: Range<Int>, name: String)], depth: Int
    ) throws {
        guard depth < JSONScanner.depthMax else {
            throw scanner.malformed("it is nested deeper than \(JSONScanner.depthMax) levels")
        }
        switch try scanner.kind() {
        case .object:
            let start = scanner.offset
            let before = found.count
            var names: [String] = []
            var name: String?
            try scanner.object { scanner, member in
                names.append(try scanner.text(of: member))
                guard names == [SecretReference.member], try scanner.kind() == .string else {
                    return try collect(&scanner, into: &found, depth: depth + 1)
                }
                name = try scanner.text(of: try scanner.stringLiteral())
            }
            guard let name, names.count == 1 else { return }
            found.removeSubrange(before...)
            found.append((start..<scanner.offset, name))
        case .array: try scanner.array { scanner in try collect(&scanner, into: &found, depth: depth + 1) }
        case .string, .number, .literal: try scanner.value()
        }
    }

    /// What the secret is, without one line break at its end.
    func text(of name: String) throws -> String {
        func unusable(_ reason: String) -> Unusable { Unusable(name: name, reason: reason) }
        if let problem = SecretReference.problem(withName: name) { throw unusable("has no possible name; \(problem)") }
        guard let directory else {
            throw unusable("is not here: this worker has no secrets; start it with --secrets DIR")
        }
        let path = "\(directory)/\(name)"
        // Whoever makes the file looked at and the file read differ finds the same one here.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw unusable(
                errno == ENOENT
                    ? "is unknown: there is no file of that name in the worker's directory of secrets"
                    : "cannot be read: \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var state = stat()
        guard fstat(descriptor, &state) == 0, state.st_mode & S_IFMT == S_IFREG else { throw unusable("is no file") }
        guard state.st_mode & 0o077 == 0 else {
            throw unusable("can be read by others than its owner; give its file the mode 0600")
        }
        guard state.st_size <= Self.bytesMax else {
            throw unusable("has \(state.st_size) bytes, more than the limit of \(Self.bytesMax) (secretBytes)")
        }
        let bytes: Data
        do { bytes = try file.read(upToCount: Self.bytesMax + 1) ?? Data() } catch {
            throw unusable("cannot be read: \(error.localizedDescription)")
        }
        // It may have grown since it was looked at.
        guard bytes.count <= Self.bytesMax else {
            throw unusable("has more than \(Self.bytesMax) bytes, the limit (secretBytes)")
        }
        guard var text = String(validating: bytes, as: UTF8.self) else { throw unusable("is no text in UTF-8") }
        for end in ["\n", "\r"] as [Unicode.Scalar] {
            guard text.unicodeScalars.last == end else { break }
            text.unicodeScalars.removeLast()
        }
        return text
    }
}
