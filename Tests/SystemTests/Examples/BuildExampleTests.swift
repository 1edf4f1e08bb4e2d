import Foundation
import Testing

extension SystemTests {
    /// `examples/build.yaml`.
    @Suite struct BuildExample {
        /// A compiler that notes when it links, and then takes a moment longer.
        private func compiler(_ harness: ProcessHarness) throws -> String {
            let real = try #require(Examples.program("cc", "gcc", "clang"), "a C compiler, which Swift needs as well")
            let path = try harness.write(
                "compiler",
                """
                #!/bin/sh
                case " $* " in *" -c "* | *" --version "*) exec '\(real)' "$@" ;; esac
                echo begin >> '\(harness.directory)/links'
                '\(real)' "$@"; status=$?
                sleep 0.2
                echo end >> '\(harness.directory)/links'
                exit $status
                """)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return path
        }

        @Test func compilesAll_linksOneAtATime_thenOnlyWhatHasChanged() async throws {
            try await ProcessHarness.with { harness in
                let variables = ["dir": "\(harness.directory)/build", "cc": try compiler(harness)]
                let sources = ["check.c", "count.c", "reverse.c", "turn.c", "words.c"]
                let programs = ["count", "reverse", "check"]
                let first = try await harness.value(ofExample: "build.yaml", variables)
                #expect(first[2].elements.compactMap(\.string) == sources.map { "compiled \($0)" })
                #expect(first[4] == "all tests passed")
                // Three at once would begin before the first has ended.
                #expect(harness.lines(of: "links") == ["begin", "end", "begin", "end", "begin", "end"])
                let tokens = first[3].elements.compactMap { $0.string?.split(separator: " ").last.flatMap { UInt64($0) } }
                #expect(tokens.count == 3 && Set(tokens).count == 3, "\(first[3])")
                let words = try await harness.start("\(harness.directory)/build/bin/count", ["one  two\nthree "]).finish()
                #expect(words.text == "3\n")
                let turned = try await harness.start("\(harness.directory)/build/bin/reverse", ["abc"]).finish()
                #expect(turned.text == "cba\n")

                let second = try await harness.value(ofExample: "build.yaml", variables)
                #expect(second[2].elements.compactMap(\.string) == sources.map { "kept \($0)" })
                #expect(second[3].elements.compactMap(\.string) == programs.map { "kept \($0)" })

                let changed = try String(contentsOfFile: "\(harness.directory)/build/src/count.c", encoding: .utf8)
                _ = try harness.write("build/src/count.c", changed.replacing("%zu", with: "%zu words"))
                let third = try await harness.value(ofExample: "build.yaml", variables)
                #expect(third[2].elements.compactMap(\.string) == sources.map { $0 == "count.c" ? "compiled \($0)" : "kept \($0)" })
                #expect(third[3].elements.compactMap { $0.string?.hasPrefix("kept") } == [false, true, true])
                let again = try await harness.start("\(harness.directory)/build/bin/count", ["one"]).finish()
                #expect(again.text == "1 words\n")
                #expect(harness.lines(of: "links").count == 8)
            }
        }

        @Test func whatIsWrong_isNamed_andLinksNothing() async throws {
            try await ProcessHarness.with { harness in
                var variables = ["dir": "\(harness.directory)/build", "cc": "no-such-compiler"]
                let missing = try await harness.example("build.yaml", variables)
                #expect(missing.status == 2, "\(missing)")
                #expect(try harness.errors(of: missing).contains("there is no compiler no-such-compiler"), "\(missing)")
                variables["cc"] = try compiler(harness)
                _ = try harness.folders("build/src")
                _ = try harness.write("build/src/words.c", "nonsense\n")
                _ = try harness.write("build/src/turn.c", "no less\n")
                let wrong = try await harness.example("build.yaml", variables)
                #expect(wrong.status == 2, "\(wrong)")
                let errors = try JSON(parsing: wrong.text)["errors"].elements
                #expect(errors.compactMap { $0["path"].string } == ["compile/3", "compile/4"], "\(wrong)")
                #expect(errors.last?["stderr"].string?.contains("words.c:1") == true)
                #expect(harness.lines(of: "links").isEmpty)
            }
        }
    }
}
