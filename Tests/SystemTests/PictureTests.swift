import Foundation
import FoundationXML
import Testing

extension SystemTests {
    /// `aop graph` and `aop timeline`.
    @Suite struct Pictures {
        private static let work = """
            name: work
            group:
              - id: first
                run: echo 1
              - id: each
                after: [first]
                forEach: [a, b, c]
                as: letter
                run: echo "$letter"
              - id: bad
                after: [each]
                run: echo oops >&2; exit 7

            """

        private func isXML(_ text: String) -> Bool {
            XMLParser(data: Data(text.utf8)).parse()
        }

        @Test func graph_ofASubmission_inEveryFormat() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let file = try harness.write("work.yaml", Self.work)
                #expect(try await harness.aop("submit", file, "--wait").status == 2)

                let svg = try await harness.aop("graph", "last")
                #expect(svg.status == 0 && isXML(svg.text), "\(svg)")
                #expect(svg.text.contains(">each<") && svg.text.contains("exited with 7") && svg.text.contains("failed 1"))

                let json = try JSON(parsing: try await harness.aop("graph", "last", "-o", "json").text)
                #expect(json.keys == ["schema", "id", "name", "state", "nodes", "edges"])
                #expect(json["state"] == "failed" && json["name"] == "work")
                #expect(json["nodes"].elements.map { $0["path"] } == ["", "first", "each", "each/0", "each/1", "each/2", "bad"])
                #expect(
                    json["nodes"][1].keys
                        == ["path", "parent", "kind", "type", "folded", "state", "attempts", "worker", "startedAt", "finishedAt", "error"])
                #expect(json["nodes"][2]["counts"] == .object(["succeeded": 3]))
                #expect(
                    json["edges"].elements
                        == [.object(["from": "first", "to": "each"]), .object(["from": "each", "to": "bad"])])

                let dot = try await harness.aop("graph", "last", "--format", "dot", "--depth", "1")
                #expect(dot.status == 0 && dot.text.contains("n1 -> n2") && !dot.text.contains("subgraph"), "\(dot)")
                let mermaid = try await harness.aop("graph", "last/each", "--format", "mermaid")
                #expect(mermaid.text.hasPrefix("flowchart LR\n") && !mermaid.text.contains("bad"), "\(mermaid)")

                let to = "\(harness.directory)/picture.mmd"
                let saved = try JSON(parsing: try await harness.aop("graph", "last", "--to", to, "-o", "json").text)
                #expect(saved["format"] == "mermaid" && saved["file"] == .string(to))
                #expect(try String(contentsOfFile: to, encoding: .utf8).hasPrefix("flowchart LR\n"))
            }
        }

        @Test func graph_ofAFile_isCheckedBefore() async throws {
            try await ProcessHarness.with { harness in
                let good = try harness.write("good.yaml", Self.work)
                let offline = ["AOP_COORDINATOR": ""]
                let drawn = try await harness.aop("graph", good, environment: offline)
                #expect(drawn.status == 0 && isXML(drawn.text), "\(drawn)")
                #expect(drawn.text.contains("each/* · shell"))

                let bad = try harness.write("bad.yaml", "group:\n  - {id: a, run: echo, after: [nowhere]}\n  - {id: b, rum: echo}\n")
                let checked = try await harness.aop("check", bad, environment: offline)
                let refused = try await harness.aop("graph", bad, environment: offline)
                #expect(refused.status == 6 && refused.text.isEmpty)
                #expect(refused.stderr == checked.stderr)
                // What only the whole graph shows.
                let crossed = try harness.write(
                    "crossed.yaml",
                    "group:\n  - {id: a, exclusive: k, group: [{id: x, run: echo}], after: [b]}\n  - {id: b, run: echo, after: [a]}\n")
                let both = (
                    try await harness.aop("check", crossed, environment: offline),
                    try await harness.aop("graph", crossed, environment: offline)
                )
                #expect(both.0.status == 6 && both.1.status == 6, "\(both)")
                let missing = try await harness.aop("graph", "\(harness.directory)/none.yaml", environment: offline)
                #expect(missing.status == 6 && missing.stderr.contains("no such file"), "\(missing)")
            }
        }

        @Test func whatIsNotThere_orContradictsItself_isNamed() async throws {
            try await ProcessHarness.with { harness in
                let nobody = try await harness.aop("graph", "last", "--connect-timeout", "100ms")
                #expect(nobody.status == 69, "\(nobody)")
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let unknown = try await harness.aop("graph", "zzzz")
                #expect(unknown.status == 5 && unknown.stderr.contains("a file called `zzzz` is not there either"), "\(unknown)")
                #expect(try await harness.aop("timeline", "zzzz").status == 5)
                let file = try harness.write("work.yaml", Self.work)
                #expect(try await harness.aop("submit", file, "--wait").status == 2)
                #expect(try await harness.aop("graph", "last/none").status == 5)
                for (arguments, words) in [
                    (["graph", "last", "--depth", "0"], "--depth 0: use a number from 1 on"),
                    (["graph", "last", "--format", "svg", "-o", "json"], "-o json and --format svg contradict each other"),
                    (["graph", "last", "--set", "a=b"], "`last` is no file"), (["timeline", "last", "--format", "dot"], "dot"),
                    (
                        ["timeline", "last", "--to", "\(harness.directory)/x.pdf"],
                        "there is no format for .pdf; name a file that ends with one of .svg, .json"
                    ),
                    (["graph", "last", "--to", "x.PNG"], "there is no format for .PNG"),
                ] {
                    let refused = try await harness.start(BuiltProducts.aop, arguments).finish()
                    #expect(refused.status == 64 && (refused.stderr + refused.text).contains(words), "\(refused)")
                }
                #expect(!FileManager.default.fileExists(atPath: "\(harness.directory)/x.pdf"))
                let named = try await harness.aop("graph", "last", "--format", "dot", "--to", "\(harness.directory)/x.txt")
                #expect(named.status == 0, "who says the format may call the file as he likes: \(named)")
                let nowhere = try await harness.aop("graph", "last", "--to", "\(harness.directory)/none/x.svg")
                #expect(nowhere.status == 1 && nowhere.stderr.contains("its directory is not there"), "\(nowhere)")
            }
        }

        @Test func timeline_showsWhoRanWhatWhen() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "1")
                _ = try await harness.waitForExecutors(2)
                let file = try harness.write("work.yaml", Self.work)
                #expect(try await harness.aop("submit", file, "--wait").status == 2)

                let svg = try await harness.aop("timeline", "last")
                #expect(svg.status == 0 && isXML(svg.text), "\(svg)")
                #expect(svg.text.contains("bad · failed") && svg.text.contains("5 begun") && svg.text.contains("failed, lost"))
                let json = try JSON(parsing: try await harness.aop("timeline", "last", "--format", "json").text)
                #expect(json.keys == ["schema", "id", "name", "state", "start", "end", "lanes", "lost"])
                let attempts = json["lanes"].elements.flatMap { $0["attempts"].elements }
                #expect(Set(attempts.compactMap { $0["path"].string }) == ["first", "each/0", "each/1", "each/2", "bad"])
                #expect(attempts.allSatisfy { ($0["from"].string ?? "z") <= ($0["to"].string ?? "") })
                let part = try JSON(parsing: try await harness.aop("timeline", "last/each", "-o", "json").text)
                #expect(part["lanes"].elements.flatMap { $0["attempts"].elements }.count == 3)
            }
        }
    }
}
