import Foundation
import Testing

/// The repository's examples, run by the real binary.
enum Examples {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func path(_ name: String) -> String { root.appending(path: "examples/\(name)").path }

    /// The first of these programs that is on the path of the tests.
    static func program(_ names: String...) -> String? {
        let folders = ProcessInfo.processInfo.environment["PATH", default: "/usr/bin"].split(separator: ":")
        return names.lazy.flatMap { name in folders.map { "\($0)/\(name)" } }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

extension ProcessHarness {
    /// `aop run` of an example with these variables.
    func example(_ name: String, _ variables: [String: String]) async throws -> Finished {
        let settings = variables.sorted { $0.key < $1.key }.flatMap { ["--set", "\($0.key)=\($0.value)"] }
        return try await start(BuiltProducts.aop, ["run", Examples.path(name), "-o", "json"] + settings).finish()
    }

    /// What a run gave that has to succeed, and to leave no process and no temporary file behind.
    func value(ofExample name: String, _ variables: [String: String]) async throws -> JSON {
        let finished = try await example(name, variables)
        #expect(finished.status == 0, "\(finished)")
        #expect(processes().isEmpty, "\(processes())")
        #expect(temporaryFiles.isEmpty, "\(temporaryFiles)")
        return try JSON(parsing: finished.text)["value"]
    }

    /// What failed in a run with `-o json`, and why; on stderr only what was seen while it ran.
    func errors(of finished: Finished) throws -> String {
        try JSON(parsing: finished.text)["errors"].elements.map { error in
            "\(error["path"].string ?? ""): \(error["message"].string ?? "") \(error["stderr"].string ?? "")"
        }.joined(separator: "\n")
    }

    func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(folder)")) ?? []).sorted()
    }
}
