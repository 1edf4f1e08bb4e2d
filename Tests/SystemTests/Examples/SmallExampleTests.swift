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
    }
}
