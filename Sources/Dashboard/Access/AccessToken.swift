import Crypto
import Foundation
import Wire

/// What a reader shows to do more than look: 32 random bytes, hexadecimal, in a file that only the coordinator's user may read.
package struct AccessToken: Sendable {
    /// Where it is.
    package let path: String
    private let digest: SHA256.Digest

    /// The token in `directory`, made first if there is none.
    ///
    /// - Throws: `CookieError`: the file cannot be made, or is not this user's alone.
    package static func loadOrCreate(in directory: String) throws(CookieError) -> AccessToken {
        let bytes = try Cookie.loadOrCreate(directory: directory, named: fileName)
        return AccessToken(bytes, path: "\(directory)/\(fileName)")
    }

    private static let fileName = "http-token"

    init(_ bytes: [UInt8], path: String) {
        self.path = path
        digest = SHA256.hash(data: Data(Hexadecimal.text(of: bytes).utf8))
    }

    /// Whether this is it; in a time that does not tell how much of it is right.
    func matches(_ text: some StringProtocol) -> Bool { SHA256.hash(data: Data(text.utf8)) == digest }
}
