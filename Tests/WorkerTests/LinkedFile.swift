import Foundation
import Testing

/// A file that only its owner may read, and a link to it.
struct LinkedFile {
    let link: String
    private let path: String

    init(in directory: String) throws {
        (link, path) = ("\(directory)/link", "\(directory)/secret")
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "secret")
    }

    /// The content is new, and all else as it was.
    func expect(_ content: String) throws {
        #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "secret")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }
}
