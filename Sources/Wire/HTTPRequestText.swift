import Foundation

/// What texts can be part of an HTTP request: the one rule for those who read a graph, and for workers.
public enum HTTPRequestText {
    /// The URL, its scheme in lower case, or why no request can be made to it.
    public static func url(_ text: String) -> Result<URL, Unfit> {
        let scheme = text.prefix { $0 != ":" }
        guard let url = URL(string: scheme.lowercased() + text.dropFirst(scheme.count)), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme),
            let host = url.host, !host.isEmpty
        else { return .failure(Unfit("it must begin with http:// or https:// and name a host")) }
        if let port = url.port, !ports.contains(port) {
            return .failure(Unfit("its port is \(port), and ports are from \(ports.lowerBound) to \(ports.upperBound)"))
        }
        return .success(url)
    }

    private static let ports = 1...65_535

    /// Whether it is a token of RFC 9110, 5.6.2, as methods and the names of headers are: anything else would be taken for more than
    /// one word, or line, of the request.
    public static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Methods whose requests have no body.
    public static let bodilessMethods: Set<String> = ["GET", "HEAD"]

    /// Why a header of this name cannot be given; nil: it can. What tells where a request ends follows from what is sent.
    public static func fault(ofHeader name: String) -> String? {
        guard isToken(name) else { return "is no name of a header: it must be of letters, digits and dashes" }
        guard ["content-length", "transfer-encoding"].contains(name.lowercased()) else { return nil }
        return "is set by the worker, from what it sends; leave it out"
    }

    /// Whether it has nothing that ends the line of a header.
    public static func isFieldValue(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F }
    }

    /// Why a text is no URL of a request.
    public struct Unfit: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String

        init(_ description: String) { self.description = description }
    }
}
