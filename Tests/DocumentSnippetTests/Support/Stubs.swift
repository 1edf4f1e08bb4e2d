// What the documents' snippets take for granted.
//
// How to read the snippet files of this target
//
// `private enum Document` (or `extension`) holds what a document says under one heading, line by line:
//
//   …  // +              a line, or the rest of one, that the document does not have: the test listens there, or hands
//                        something in
//   // was: …            the document's own line, where it had to be changed; the changed line follows it
//   // 1.16 n: …         why: entry n of the list of spellings that the documents promise differently
//   // slip: …           why: the document's line is no Swift, or names what does not exist
//   // translated: …     why: another language, or another library's name for the same thing
//
// Indentation apart, every other line stands as it does in the document.

import AOperation
import Foundation

/// An error for operations that are made to fail.
struct Refused: LocalizedError, Equatable {
    var text = "refused"
    var errorDescription: String? { text }
}

/// The documents' operations whose work does not matter: it says its name and succeeds.
class SampleOperation: VoidOperation, @unchecked Sendable {
    var heard: Heard?

    override func execute() {
        heard?(name ?? "")
        finish()
    }
}

class OperationA: SampleOperation, @unchecked Sendable {}
class OperationB: SampleOperation, @unchecked Sendable {}
class OperationC: SampleOperation, @unchecked Sendable {}

struct Comment {}

final class LikeCommentOperation: VoidOperation, @unchecked Sendable {
    init(for comment: Comment) {}

    override func execute() { finish() }
}

struct User: Codable, Equatable {
    var name: String
    var hasAccess = true

    /// Whoever asks; every task has its own.
    @TaskLocal static var current = User(name: "nobody", hasAccess: true)
}

enum AccessError: LocalizedError {
    case accessDenied

    var errorDescription: String? { "access denied" }
}
