import Crypto
import Foundation
import Wire

/// What a reader shows to do more than look: 32 random bytes, hexadecimal, in a file that only the coordinator's user may read.
struct AccessToken: Sendable {
    private let digest: SHA256.Digest

    /// The token in `directory`, made first if there is none.
    ///
    /// - Throws: `CookieError`: the file cannot be made, or is not this user's alone.
    static func loadOrCreate(in directory: String) throws(CookieError) -> AccessToken {
        AccessToken(try Cookie.loadOrCreate(directory: directory, named: fileName))
    }

    /// Where it is.
    static func path(in directory: String) -> String { "\(directory)/\(fileName)" }

    private static let fileName = "http-token"

    init(_ bytes: [UInt8]) {
        digest = SHA256.hash(data: Data(Hexadecimal.text(of: bytes).utf8))
    }

    /// Whether this is it; in a time that does not tell how much of it is right.
    func matches(_ text: some StringProtocol) -> Bool { SHA256.hash(data: Data(text.utf8)) == digest }
}
