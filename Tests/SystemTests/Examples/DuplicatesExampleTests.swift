import AOperation
import DuplicateSearch
import Foundation
import Testing

extension SystemTests {
    /// `examples/Duplicates`: a program, its worker, and a group that decides on it.
    @Suite struct DuplicatesExample {
        /// A tree of twelve folders in each other, with a copy in each and more files, and what the program says about it.
        private func tree(_ harness: ProcessHarness) throws -> (folder: String, report: String) {
            let folder = try harness.folders("tree")[0]
            var (path, copies) = ("tree", [String]())
            for depth in 1...12 {
                path += "/\(depth)"
                _ = try harness.folders(path)
                copies.append(try harness.write("\(path)/copy", "the same everywhere"))
                _ = try harness.write("\(path)/other \(depth)", "as long as\(String(repeating: "!", count: 1 + depth % 2)) \(depth)")
            }
            let twins = [try harness.write("tree/a", "twins"), try harness.write("tree/b", "twins")]
            _ = try harness.write("tree/empty", "")
            _ = try harness.write("tree/1/empty", "")
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/1/up", withDestinationPath: folder)
            let lines =
                ["12 files of 19 bytes:"] + copies.sorted().map { "  \($0)" } + ["2 files of 5 bytes:"] + twins.map { "  \($0)" } + [
                    "26 files, 2 contents more than once, 214 bytes to spare"
                ]
            return (folder, lines.map { "\($0)\n" }.joined())
        }

        @Test func inThisProcessAndOnACluster_itFindsTheSame() async throws {
            try await ProcessHarness.with { harness in
                let (folder, report) = try tree(harness)
                let local = try await harness.start(BuiltProducts.duplicates, [folder]).finish()
                #expect(local.status == 0 && local.text == report, "\(local)")

                _ = try await harness.startCoordinator()
                // It waits for a worker.
                let program = harness.start(BuiltProducts.duplicates, ["--cluster", harness.endpoint, folder])
                try await eventually("the search is submitted") {
                    try JSON(parsing: try await harness.aop("list", "-o", "json").text)["submissions"].elements.count == 1
                }
                _ = harness.start(BuiltProducts.duplicatesWorker, ["--connect", harness.endpoint, "--processes", "2"])
                let remote = try await program.finish()
                #expect(remote.status == 0 && remote.text == report, "\(remote)")

                // Workers have decided, folder after folder.
                let listed = try JSON(parsing: try await harness.aop("list", "-o", "json").text)["submissions"].elements
                let shown = try await listed.asyncMap { submission in
                    try JSON(parsing: try await harness.aop("show", submission["id"].string ?? "", "-o", "json").text)["operations"]
                        .elements
                }
                let types = shown.flatMap(\.self).compactMap { $0["type"].string }
                #expect(types.count { $0 == "ListFolder" } == 13 && types.contains("DigestFiles"), "\(shown)")
            }
        }

        @Test func whatCannotBeRead_isNamed_andTheRestIsFound() async throws {
            try await ProcessHarness.with { harness in
                let (folder, report) = try tree(harness)
                _ = try await harness.startCoordinator()
                _ = harness.start(BuiltProducts.duplicatesWorker, ["--connect", harness.endpoint])
                for place in [[], ["--cluster", harness.endpoint]] {
                    let finished = try await harness.start(BuiltProducts.duplicates, place + [folder, "nowhere"]).finish()
                    #expect(finished.status == 2 && finished.text == report, "\(finished)")
                    #expect(finished.stderr.contains("\(harness.directory)/nowhere cannot be read: "), "\(finished)")
                    let small = try await harness.start(BuiltProducts.duplicates, place + ["--minimum-size", "20", folder]).finish()
                    #expect(small.status == 0 && small.text == "0 files, 0 contents more than once, 0 bytes to spare\n", "\(small)")
                }
                let wrong = try await harness.start(BuiltProducts.duplicates, ["--cluster", "tcp://nonsense", folder]).finish()
                #expect(wrong.status == 69 && wrong.stderr.contains("tcp://nonsense"), "\(wrong)")
            }
        }

        @Test func fileThatCannotBeRead_costsNoOtherItsDigest() async throws {
            try await ProcessHarness.with { harness in
                let paths = [try harness.write("a", "twins"), "\(harness.directory)/gone", try harness.write("b", "twins")]
                let digests = try await DigestFiles(.init(paths: paths)).value(on: AOperationQueue())
                #expect(digests.unreadable.map(\.path) == [paths[1]], "\(digests)")
                #expect(digests.byPath.count == 2 && digests.byPath[paths[0]] == digests.byPath[paths[2]], "\(digests)")
            }
        }

        @Test func folderThatIsNamedTwice_countsOnce() async throws {
            try await ProcessHarness.with { harness in
                let (folder, report) = try tree(harness)
                let finished = try await harness.start(BuiltProducts.duplicates, [folder, folder]).finish()
                #expect(finished.status == 0 && finished.text == report, "\(finished)")
            }
        }

        @Test func oneCommand_startsAndEndsAClusterOfItsOwn() async throws {
            try await ProcessHarness.with { harness in
                let (folder, report) = try tree(harness)
                let bin = URL(filePath: BuiltProducts.aop).deletingLastPathComponent().path
                let script = Examples.path("Duplicates/run.sh")
                let finished = try await harness.start(script, [folder], environment: ["BIN": bin]).finish()
                #expect(finished.status == 0 && finished.text == report, "\(finished)")
                #expect(harness.processes().isEmpty, "\(harness.processes())")
                #expect(harness.temporaryFiles.isEmpty, "\(harness.temporaryFiles)")
                let nothing = try await harness.start(script, [folder], environment: ["BIN": harness.directory]).finish()
                #expect(nothing.status == 69 && nothing.stderr.contains("there is no \(harness.directory)/aop"), "\(nothing)")
            }
        }

        @Test(arguments: [SIGTERM, SIGINT]) func oneCommand_thatIsStopped_leavesNothingBehind(signal: Int32) async throws {
            try await ProcessHarness.with { harness in
                let bin = try harness.folders("bin")[0]
                for (name, path) in [("aop", BuiltProducts.aop), ("DuplicatesWorker", BuiltProducts.duplicatesWorker)] {
                    try FileManager.default.createSymbolicLink(atPath: "\(bin)/\(name)", withDestinationPath: path)
                }
                // A search that takes for ever.
                let search = try harness.write("bin/Duplicates", "#!/bin/sh\n: > '\(harness.directory)/searching'\nexec sleep 1000\n")
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: search)
                let script = harness.start(Examples.path("Duplicates/run.sh"), [harness.directory], environment: ["BIN": bin])
                try await eventually("the search has begun") { FileManager.default.fileExists(atPath: "\(harness.directory)/searching") }
                try await script.send(signal)
                let finished = try await script.finish()
                #expect(finished.status == 128 + signal, "\(finished)")
                #expect(harness.processes().isEmpty, "\(harness.processes())")
                #expect(harness.temporaryFiles.isEmpty, "\(harness.temporaryFiles)")
            }
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
