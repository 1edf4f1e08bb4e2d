import Foundation
import Testing

extension SystemTests {
    /// The examples that are one thought each.
    @Suite struct SmallExamples {
        @Test func wordCount_countsWhatIsThere() async throws {
            try await ProcessHarness.with { harness in
                let texts = try harness.folders("texts")[0]
                var words = 0
                for number in 1...9 {
                    _ = try harness.write("texts/file \(number)", String(repeating: "word ", count: number * number))
                    words += number * number
                }
                let value = try await harness.value(ofExample: "word-count.yaml", ["dir": texts])
                #expect(value[2] == .number(Double(words)) && value[1].elements.count == 9, "\(value)")
                let missing = try await harness.example("word-count.yaml", ["dir": "/nowhere-at-all"])
                #expect(missing.status == 2, "\(missing)")
                #expect(try harness.errors(of: missing).contains("/nowhere-at-all"), "\(missing)")
            }
        }

        @Test func matrix_hasEveryCombination() async throws {
            try await ProcessHarness.with { harness in
                let value = try await harness.value(ofExample: "matrix.yaml", ["limits": "[5, 50]"])
                #expect(
                    value[0] == [
                        [["localhost/up/5 15", "localhost/up/50 1275"]], [["localhost/down/5 15", "localhost/down/50 1275"]],
                    ], "\(value)")
                #expect(value[1] == "measured on localhost, port 8080")
            }
        }

        @Test func checksums_areThoseOfSha256sum() async throws {
            try await ProcessHarness.with { harness in
                let value = try await harness.value(ofExample: "checksums.yaml", [:])
                let paths = ["/etc/group", "/etc/os-release", "/etc/passwd", "/etc/shells"]
                let real = try await harness.start("/usr/bin/sha256sum", paths).finish()
                #expect(value[1].string == real.text.trimmingCharacters(in: .newlines))
            }
        }

        @Test func fanIn_joinsItsBranches() async throws {
            try await ProcessHarness.with { harness in
                let value = try await harness.value(ofExample: "fan-in.yaml", [:])
                let (kernel, report) = (try #require(value[0].string), try #require(value[2].string))
                #expect(report.hasPrefix("kernel, and the shells of this machine's users:\n[\"\(kernel)\",["), "\(value)")
            }
        }

        @Test func transfers_loadLookIntoAndSend() async throws {
            try await ProcessHarness.with { harness in
                let value = try await harness.value(ofExample: "transfers.yaml", ["dir": "\(harness.directory)/files"])
                #expect(value[1].string == #"["EUR",["pen","ink"]]"#, "\(value)")
                #expect(value[3] == [.string("\(harness.directory)/files/prices.json")], "\(value)")
                #expect(value[9] == ["thank you"], "\(value)")
                #expect(harness.names(in: "files") == ["address", "prices.json", "report.json"])
            }
        }

        /// The graph of docs/first-steps.md, as it stands there.
        @Test func firstSteps_sumUpAFolder() async throws {
            try await ProcessHarness.with { harness in
                let document = try String(contentsOf: Examples.root.appending(path: "docs/first-steps.md"), encoding: .utf8)
                let block = try #require(document.split(separator: "```yaml\n").dropFirst().first?.split(separator: "```").first)
                let graph = try harness.write("sizes.yaml", String(block))
                for (name, kilobytes) in [("a", 40), ("b with spaces", 120)] {
                    _ = try harness.folders("some/\(name)")
                    _ = try harness.write("some/\(name)/file", String(repeating: "x", count: kilobytes * 1024))
                }
                let finished = try await harness.aop("run", graph, "--set", "dir=\(harness.directory)/some", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                let value = try JSON(parsing: finished.text)["value"]
                let sizes = value[1].elements.compactMap(\.number)
                #expect(value[0].elements.count == 2 && sizes.count == 2 && sizes.allSatisfy { $0 > 0 }, "\(value)")
                #expect(value[2].string == "\(Int(sizes.reduce(0, +))) KiB", "\(value)")
            }
        }

        @Test(arguments: [
            ("film.yaml", "python3"), ("crawl.yaml", "python3"), ("transfers.yaml", "python3"), ("build.yaml", "compiler cc"),
        ])
        func toolThatIsMissing_isNamed(example: String, tool: String) async throws {
            try await ProcessHarness.with { harness in
                let variables = ["dir": "\(harness.directory)/files"]
                let finished = try await harness.example(example, variables, environment: ["PATH": harness.directory])
                #expect(finished.status == 2, "\(finished)")
                #expect(try harness.errors(of: finished).contains("there is no \(tool): install "), "\(finished)")
                #expect(harness.names(in: "files").isEmpty)
            }
        }
    }
}
