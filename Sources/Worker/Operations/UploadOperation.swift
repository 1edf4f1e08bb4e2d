import AOperation
import Foundation
import Wire

/// Sends a file as the body of one HTTP request; its value is the body of the answer, as of `http`. Registered as `upload`.
///
/// A file of up to 256 MiB is sent with its length; a larger one is read while it is sent, in chunks, which not every server takes.
/// A status of 400 or more is a failure, as of `http`.
///
/// `@unchecked Sendable`: `directory` and `redaction` are set before the operation is added to a queue and only read afterwards.
final class UploadOperation: AsyncOperation<EncodedValue>, HostedOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var url: String
        /// The path of the file.
        var from: String
        /// POST by default.
        var method: String?
        var headers: [String: String]?
    }
    static let operationName = "upload"

    let parameters: Parameters
    private var directory: String?
    private var redaction = Redaction()

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    func host(in context: UnitContext) {
        directory = context.host.workingDirectory
        redaction = context.redaction
    }

    override func run() async throws -> EncodedValue {
        let place = RequestedURL(text: parameters.url, redaction: redaction)
        let request = try place.request(method: parameters.method ?? "POST", headers: parameters.headers)
        if let method = request.httpMethod, HTTPRequestText.bodilessMethods.contains(method) {
            throw OperationFault(.parameters, "`method` is \(method), which sends nothing; write POST or PUT, or use `http`")
        }
        let path = HostPath.resolve(parameters.from, in: directory)
        let (answer, response): (Data, URLResponse)
        do {
            (answer, response) = try await RequestedURL.session.upload(request, fromFile: URL(fileURLWithPath: path)) {
                [weak self] in self?.reportProgress($0)
            }
        } catch let error as URLError {
            switch error.code {
            case .fileIsDirectory: throw OperationFault(.operation, "cannot read \(path): it is a directory")
            case .cannotOpenFile where error.userInfo[NSUnderlyingErrorKey] == nil:
                throw OperationFault(.operation, "cannot read \(path): it is no regular file")
            case .fileDoesNotExist, .noPermissionsToReadFile, .cannotOpenFile:
                throw OperationFault(.operation, "cannot read \(path): \(HostPath.reason(error))")
            default: throw place.failure(error, of: request)
            }
        } catch {
            throw place.failure(error, of: request)
        }
        try place.check(response, of: request)
        return EncodedValue(received: answer)
    }
}
