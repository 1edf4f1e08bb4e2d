import Foundation
import Hummingbird

/// The parameters of a request's URL. What is not known, or is no value of its kind, is refused.
struct Query {
    private let values: [(name: String, value: String)]

    /// - Parameter names: what may be there.
    /// - Throws: `APIFailure`.
    init(_ request: Request, _ names: String...) throws {
        var values: [(String, String)] = []
        for pair in (request.uri.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                throw APIFailure.malformed("`\(pair.prefix(100))` in the URL cannot be read")
            }
            guard names.contains(name) else {
                let known = names.isEmpty ? "none" : names.map { "`\($0)`" }.joined(separator: ", ")
                throw APIFailure.malformed("`\(name.prefix(100))` is no parameter of this request; known are: \(known)")
            }
            values.append((name, value))
        }
        self.values = values
    }

    private static func decoded(_ text: Substring) -> String? {
        text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }

    func text(_ name: String) -> String? { values.last { $0.name == name }?.value }

    func texts(_ name: String) -> [String] { values.filter { $0.name == name }.map(\.value) }

    func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw APIFailure.malformed(
                "`\(name)` is `\(text.prefix(40))`: it must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func flag(_ name: String) throws -> Bool {
        switch text(name) {
        case nil, "false"?: return false
        case "true"?: return true
        case let text?: throw APIFailure.malformed("`\(name)` is `\(text.prefix(40))`: it must be true or false")
        }
    }

    func choice<Value: RawRepresentable & CaseIterable>(_ name: String, _ type: Value.Type) throws -> Value?
    where Value.RawValue == String {
        guard let text = text(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            let known = type.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            throw APIFailure.malformed("`\(name)` is `\(text.prefix(40))`: it must be one of \(known)")
        }
        return value
    }
}

extension APIContext {
    /// The submission that the path names: an id, a unique prefix of one, `last` or `key=…`.
    ///
    /// - Throws: `APIFailure`.
    var submission: String {
        get throws {
            guard let text = parameters.get("id"), let id = text.removingPercentEncoding, !id.isEmpty else {
                throw APIFailure.malformed("the submission's id in the URL cannot be read")
            }
            return id
        }
    }
}
