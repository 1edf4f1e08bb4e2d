import Foundation
import Testing

extension SystemTests {
    /// `examples/nightly.yaml`.
    @Suite struct NightlyExample {
        /// A folder with three files to back up, and where the backups go.
        private func variables(_ harness: ProcessHarness) throws -> [String: String] {
            let source = try harness.folders("source", "source/deep")[0]
            for name in ["a", "b with spaces", "deep/c"] { _ = try harness.write("source/\(name)", "content of \(name)\n") }
            return ["source": source, "dir": "\(harness.directory)/backups"]
        }

        @Test func backup_isWhole_isTriedAgain_andOldOnesGo() async throws {
            try await ProcessHarness.with { harness in
                var variables = try variables(harness)
                variables["keep"] = "2"
                let first = try await harness.value(ofExample: "nightly.yaml", variables)
                let report = first[1]
                #expect(report[0] == 3)
                #expect(report[1] == "3 files")
                // Two attempts fail by `failures`.
                #expect(harness.lines(of: "backups/attempts").count == 3)
                let name = try #require(report[3].string)
                #expect(harness.names(in: "backups/remote") == [name])
                _ = try harness.folders("restored")
                let unpacked = try await harness.start(
                    "/bin/tar", ["-C", "\(harness.directory)/restored", "-xzf", "\(harness.directory)/backups/remote/\(name)"]
                ).finish()
                #expect(unpacked.status == 0, "\(unpacked)")
                #expect(harness.lines(of: "restored/deep/c") == ["content of deep/c"])
                #expect(harness.names(in: "restored") == ["a", "b with spaces", "deep"])

                variables["failures"] = "0"
                let second = try await harness.value(ofExample: "nightly.yaml", variables)
                #expect(second[1][4] == [])
                let third = try await harness.value(ofExample: "nightly.yaml", variables)
                #expect(third[1][4] == [.string(name)], "the oldest goes")
                #expect(harness.names(in: "backups/remote") == [second[1][3], third[1][3]].compactMap(\.string))
                #expect(harness.names(in: "backups") == ["attempts", "remote", "report.json"])
            }
        }

        @Test func whatFailed_isInTheReport_andNothingIsPruned() async throws {
            try await ProcessHarness.with { harness in
                var variables = try variables(harness)
                variables["failures"] = "9"
                _ = try harness.folders("backups/remote")
                for day in 1...5 { _ = try harness.write("backups/remote/backup-2020010\(day)T000000.0Z.tar.gz", "old") }
                let finished = try await harness.example("nightly.yaml", variables)
                #expect(finished.status == 2, "\(finished)")
                let report = try JSON(parsing: String(contentsOfFile: "\(harness.directory)/backups/report.json", encoding: .utf8))
                #expect(report["origin"] == "backup/upload" && report["exitCode"] == 75, "\(report)")
                #expect(harness.lines(of: "backups/attempts").count == 5, "the first and four more")
                #expect(harness.names(in: "backups/remote").count == 5)
            }
        }

        @Test(arguments: [
            ("source", "/nowhere-at-all", "there is no /nowhere-at-all"),
            ("freeKiB", "999999999999", "999999999999 are needed"),
            ("hold", "", "backups/hold"),
        ])
        func conditionThatFails_isNamed_andNothingIsDumped(name: String, value: String, message: String) async throws {
            try await ProcessHarness.with { harness in
                var variables = try variables(harness)
                _ = try harness.folders("backups")
                if name == "hold" { _ = try harness.write("backups/hold", "") } else { variables[name] = value }
                let finished = try await harness.example("nightly.yaml", variables)
                #expect(finished.status == 2, "\(finished)")
                let error = try JSON(parsing: finished.text)["errors"][0]
                #expect(error["path"] == "backup/dump" && error["code"] == "condition", "\(finished)")
                #expect(error["message"].string?.contains(message) == true, "\(finished)")
                #expect(harness.names(in: "backups/remote").isEmpty && !harness.names(in: "backups").contains("attempts"))
            }
        }
    }
}
