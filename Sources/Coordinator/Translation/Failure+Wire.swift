import Foundation
import Scheduling
import Wire

extension Failure {
    /// Bytes of one text of a failure: what an operation says of itself goes into the journal.
    static let textBytesMax = 64 * 1024
    /// Of what a condition says.
    static let reasonBytesMax = 4 * 1024
    static let errorsPerOutcome = 1000
    /// Of an error that holds others.
    private static let partsMax = 64

    /// Reads what a worker reports. Texts above their limit are cut, since the failure itself must not be lost.
    ///
    /// - Throws: `TranslationError` for an encoded error above `Limits.inlineValueBytes`.
    init(wire: WireOperationFailure, depth: Int = 0) throws(TranslationError) {
        guard wire.error.count <= Limits.inlineValueBytes else {
            throw TranslationError("an encoded error of \(wire.error.count) bytes; the limit is \(Limits.inlineValueBytes)")
        }
        self.init(
            code: FailureCode(rawValue: UInt8(truncatingIfNeeded: wire.code.rawValue)) ?? .operation,
            isCondition: wire.state == .condition, publisher: Self.cut(wire.publisher, Limits.nameBytes),
            message: Self.cut(wire.message, Self.textBytesMax),
            typeName: Self.cut(wire.typeName, Limits.nameBytes),
            exitCode: wire.hasExitCode ? wire.exitCode : nil, signal: wire.hasSignal ? wire.signal : nil,
            stderr: wire.hasStderr ? Self.cutFront(wire.stderr, Limits.stderrTailBytes) : nil,
            host: Self.cut(wire.host, Limits.nameBytes), origin: Self.cut(wire.origin, Self.textBytesMax))
        guard wire.parts.isEmpty else {
            guard depth < CoordinatorLimits.conditionDepth else { return }
            var parts: [Failure] = []
            for part in wire.parts.prefix(Self.partsMax) { parts.append(try Failure(wire: part, depth: depth + 1)) }
            self.parts = parts
            return
        }
        // What an image stands for otherwise is said above.
        if !Self.isReserved(wire.error) { image = [UInt8](wire.error) }
    }

    var wire: WireOperationFailure {
        var wire = WireOperationFailure()
        wire.code = WireFailureCode(rawValue: Int(code.rawValue)) ?? .operation
        wire.state = isCondition ? .condition : .execution
        wire.publisher = publisher
        wire.message = message
        wire.typeName = typeName
        if let exitCode { wire.exitCode = exitCode }
        if let signal { wire.signal = signal }
        if let stderr { wire.stderr = stderr }
        wire.host = host
        wire.origin = origin
        if !Self.isReserved(image) { wire.error = Data(image) }
        wire.parts = parts.map(\.wire)
        if let libraryError { wire.error = libraryError.image }
        wire.duplicateOf = duplicateOf
        return wire
    }

    var wireBytes: Int {
        48 + publisher.utf8.count + message.utf8.count + typeName.utf8.count + (stderr?.utf8.count ?? 0)
            + host.utf8.count + origin.utf8.count + image.count + duplicateOf.utf8.count
    }

    /// The beginning of the text, whole characters only.
    static func cut(_ text: String, _ bytes: Int) -> String {
        text.utf8.count <= bytes ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
    }

    /// The end of the text.
    private static func cutFront(_ text: String, _ bytes: Int) -> String {
        text.utf8.count <= bytes ? text : String(decoding: text.utf8.suffix(bytes), as: UTF8.self)
    }
}

extension [Failure] {
    /// - Throws: `TranslationError`: no error at all, or one that cannot be read.
    init(wire: WireFailures) throws(TranslationError) {
        guard !wire.errors.isEmpty else { throw TranslationError("a failure without an error") }
        self = []
        for error in wire.errors.prefix(Failure.errorsPerOutcome) { append(try Failure(wire: error)) }
    }

    var wire: WireFailures {
        var wire = WireFailures()
        wire.errors = map(\.wire)
        return wire
    }
}
