import AOperation
import Foundation
import Wire

/// Loads what is at a URL into a file; its value is the file's path. Registered as `download`.
///
/// What comes is written to a hidden file beside the target, which takes the target's place when it is whole: there is never half a
/// file there. Whatever ends the operation otherwise removes it; a process that is killed leaves it. A status that brings no
/// file is a failure: below 200, or 300 or more.
///
/// `@unchecked Sendable`: `directory` and `redaction` are set before the operation is added to a queue and only read afterwards.
final class DownloadOperation: AsyncOperation<String>, HostedOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var url: String
        /// The path of the file.
        var to: String
        var headers: [String: String]?
    }
    static let operationName = "download"

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

    override func run() async throws -> String {
        guard !redaction.occurs(in: parameters.to) else {
            throw OperationFault(
                .parameters, "`to` has a secret, and the path is the operation's value, which is kept: name a file without one")
        }
        let path = HostPath.resolve(parameters.to, in: directory)
        let target = try ReplacedFile(path)
        let place = RequestedURL(text: parameters.url, redaction: redaction)
        let request = try place.request(method: "GET", headers: parameters.headers)
        let (file, response): (URL, URLResponse)
        do {
            (file, response) = try await RequestedURL.session.download(request, beside: URL(fileURLWithPath: target.path)) { [weak self] in
                self?.reportProgress($0)
            }
        } catch let error as URLError where [.cannotCreateFile, .cannotWriteToFile].contains(error.code) {
            throw OperationFault(.operation, "cannot write \(target.path): \(HostPath.reason(error))")
        } catch {
            throw place.failure(error, of: request)
        }
        do {
            try place.check(response, of: request, good: 200..<300)
            try Task.checkCancellation()
            try target.take(file.path)
        } catch {
            unlink(file.path)
            throw error
        }
        return path
    }
}
