import Coordinator
import Shapes

/// What was found in a journal, for people and for programs.
enum JournalText {
    static func text(_ found: JournalVerification, path: String, hashed: Bool) -> String {
        var lines = [path]
        let snapshot = found.snapshotFacts.map { ", the first \($0) of them in a snapshot" } ?? ""
        lines.append("  \(found.facts) facts\(snapshot); epoch \(found.epoch)")
        lines.append("  \(found.submissions) submissions, \(found.unfinishedSubmissions) of them unfinished")
        lines.append("  \(found.values) large values, \(found.valueBytes) bytes\(hashed ? ", read and hashed" : "")")
        if found.unnamedValues > 0 {
            lines.append(
                "  \(found.unnamedValues) more that nothing names, \(found.unnamedValueBytes) bytes: `aop journal prune` removes them")
        }
        if found.hasTornTail { lines.append("  the last coordinator ended while it was writing; nobody had been told of what is cut off") }
        lines += found.givenUp.map { "  given up: the value of \(PlainText.of($0))" }
        lines += (found.problems + found.partialResultProblems).map { "  wrong: \(PlainText.of($0))" }
        lines += found.notLookedAt.map { "  not looked at: \(PlainText.of($0))" }
        if found.problems.isEmpty, found.partialResultProblems.isEmpty {
            lines.append(found.notLookedAt.isEmpty ? "everything holds" : "everything holds that could be looked at")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    static func json(_ found: JournalVerification, path: String, more: [(String, JSONValue)] = []) -> JSONValue {
        .shape(
            [
                ("path", .string(path)), ("facts", .integer(Int64(clamping: found.facts))),
                ("snapshotFacts", found.snapshotFacts.map { .integer(Int64(clamping: $0)) } ?? .null),
                ("epoch", .integer(Int64(found.epoch))), ("submissions", .integer(Int64(found.submissions))),
                ("unfinished", .integer(Int64(found.unfinishedSubmissions))), ("values", .integer(Int64(found.values))),
                ("valueBytes", .integer(Int64(clamping: found.valueBytes))),
                ("unnamedValues", .integer(Int64(found.unnamedValues))),
                ("unnamedValueBytes", .integer(Int64(clamping: found.unnamedValueBytes))), ("tornTail", .bool(found.hasTornTail)),
                ("givenUp", .array(found.givenUp.map { .string($0) })),
                ("problems", .array(found.problems.map { .string($0) })),
                ("partialResultProblems", .array(found.partialResultProblems.map { .string($0) })),
                ("notLookedAt", .array(found.notLookedAt.map { .string($0) })),
            ] + more)
    }
}

/// Work on the files of a data directory, on a thread of its own.
enum JournalWork {
    /// - Throws: `ToolError` in place of what the files are refused with.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        do { return try await OwnThread.run(body) } catch let error as DataDirectoryError {
            throw ToolError(.toolError, "dataDirectory", "\(error)")
        } catch let error as JournalError {
            throw ToolError(.toolError, "journal", "\(error)")
        } catch let error as BlobStoreError {
            throw ToolError(.toolError, "blobs", "\(error)")
        } catch let error as BackupError {
            if case .noJournal = error { throw ToolError(.notFound, "notFound", "\(error)") }
            throw ToolError(.toolError, "backup", "\(error)")
        }
    }
}
