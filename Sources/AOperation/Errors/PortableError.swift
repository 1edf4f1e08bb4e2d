import Foundation

/// An error that keeps its type on its way to another process.
///
/// ```swift
/// struct ParseError: PortableError, LocalizedError {
///     var line: Int
///     var errorDescription: String? { "line \(line) is not understood" }
/// }
/// PortableErrors.register(ParseError.self)      // in each process that is to know it
/// ```
/// What an operation fails with on a worker is told to the submitting process, and to receivers on other workers, as a
/// value of this type, if they have registered it; otherwise as a ``RemoteError``. The library's own errors, and `URLError`, need not
/// be registered.
public protocol PortableError: Error, Codable, Sendable {
    /// The name under which it travels; by default the fully qualified name of the type.
    static var errorName: String { get }
}

extension PortableError {
    public static var errorName: String { String(reflecting: Self.self) }
}

/// The portable errors that this process knows.
public enum PortableErrors {
    /// An encoded error is kept with the outcome, for ever as long as that; a larger one travels as its text.
    private static let imageBytesMax = 16 * 1024

    private static let known = Guarded<[String: any PortableError.Type]>(
        Dictionary(uniqueKeysWithValues: libraryErrors.map { ($0.errorName, $0) }))

    /// Lets errors of these types arrive as themselves. A type that is known already, or takes another one's name,
    /// replaces that.
    public static func register(_ types: any PortableError.Type...) { register(types) }

    /// Lets errors of these types arrive as themselves.
    public static func register(_ types: [any PortableError.Type]) {
        known.withLock { known in
            for type in types { known[type.errorName] = type }
        }
    }

    private struct Image<Value: PortableError>: Codable {
        let name: String
        let error: Value
    }

    private struct Name: Decodable {
        let name: String
    }

    /// How the error travels; nil for one that travels as its text.
    package static func image(of error: any Error) -> Data? {
        guard let error = (error as? URLError).map({ LoadingError($0) }) ?? error as? any PortableError else { return nil }
        guard let image = try? encoded(error), image.count <= imageBytesMax else { return nil }
        return image
    }

    /// The error that travelled like this; nil if this process does not know its type, or knows it otherwise.
    package static func error(from image: Data) -> (any Error)? {
        guard !image.isEmpty, let name = try? JSONDecoder().decode(Name.self, from: image).name else { return nil }
        guard let type = known.withLock({ $0[name] }) else { return nil }
        let error = try? decoded(type, from: image)
        return (error as? LoadingError)?.original ?? error
    }

    private static func encoded<Value: PortableError>(_ error: Value) throws -> Data {
        try JSONForm.encode(Image(name: Value.errorName, error: error))
    }

    private static func decoded<Value: PortableError>(_ type: Value.Type, from image: Data) throws -> Value {
        try JSONForm.decoder.decode(Image<Value>.self, from: image).error
    }
}
