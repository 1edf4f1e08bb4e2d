import Foundation
import Hummingbird

/// A JSON body in which nothing is that is not known.
protocol StrictBody: Decodable {
    static var keys: Set<String> { get }
    init()
}

extension StrictBody {
    /// - Throws: `APIFailure`.
    init(of request: Request) async throws {
        let body = try await request.body.collect(upTo: HTTPLimits.bodyBytes)
        // Nothing said: as it is by default.
        guard body.readableBytes > 0 else {
            self.init()
            return
        }
        let type = request.headers[.contentType]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
        guard type == "application/json" else {
            throw APIFailure(.unsupportedMediaType, "mediaType", "the body must be application/json")
        }
        let data = Data(body.readableBytesView)
        let decoder = JSONDecoder()
        do {
            let present = try decoder.decode([String: Anything].self, from: data).keys
            if let unknown = present.first(where: { !Self.keys.contains($0) }) {
                let known = Self.keys.sorted().map { "`\($0)`" }.joined(separator: ", ")
                throw APIFailure.malformed("`\(unknown.prefix(100))` is no key of this request; known are: \(known)")
            }
            self = try decoder.decode(Self.self, from: data)
        } catch let error as APIFailure {
            throw error
        } catch let error as DecodingError {
            throw APIFailure.malformed("the body is not what is expected: \(Self.text(of: error))")
        }
    }

    private static func text(of error: DecodingError) -> String {
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context), .dataCorrupted(let context):
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? "it is no JSON object" : "`\(path)` is no value of its kind"
        @unknown default: return "it cannot be read"
        }
    }
}

/// Any JSON value; what it is does not matter.
private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
}
