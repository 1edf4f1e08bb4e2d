import AOperation
import Foundation
import Wire

/// The content of a file: text if it is UTF-8, else bytes. Registered as `readFile`.
///
/// `@unchecked Sendable`: `directory` is set before the operation is added to a queue and only read afterwards.
final class ReadFileOperation: ResultableOperation<EncodedValue>, HostedOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var path: String
        /// The largest file in bytes; `Limits.maxOutputBytesDefault` by default.
        var maxOutput: Int?
    }
    static let operationName = "readFile"

    let parameters: Parameters
    private var directory: String?

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    func host(in context: UnitContext) { directory = context.host.workingDirectory }

    override func execute() {
        finish(with: Result { try read() }.mapError { AOperationError($0) })
    }

    private func read() throws -> EncodedValue {
        let path = HostPath.resolve(parameters.path, in: directory)
        let limit = try OutputLimit.checked(parameters.maxOutput)
        let file: FileHandle
        do {
            file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            throw OperationFault(.operation, "cannot read \(path): \(HostPath.reason(error))")
        }
        defer { try? file.close() }
        let bytes: Data
        do {
            bytes = try file.read(upToCount: limit + 1) ?? Data()
        } catch {
            throw OperationFault(.operation, "cannot read \(path): \(HostPath.reason(error))")
        }
        guard bytes.count <= limit else {
            throw OperationFault(.limit, "\(path) is larger than maxOutput (\(ByteSize.describe(limit))); raise `maxOutput`")
        }
        return EncodedValue(received: bytes)
    }
}
