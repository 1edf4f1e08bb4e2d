import Foundation
import Testing

extension SystemTests {
    @Suite struct Configuration {
        @Test func aCoordinatorAndAWorker_takeWhatTheFileSays_andFlagsAndVariablesOutrankIt() async throws {
            try await ProcessHarness.with { harness in
                let file = try harness.write(
                    "config.yaml",
                    """
                    listen: [\(harness.endpoint)]
                    http: "off"
                    data: \(harness.directory)/journal
                    connect: \(harness.endpoint)
                    processes: 2
                    slots: 3
                    labels: [fast, zone=a]
                    resources: [gpus=2]
                    """)
                let coordinator = harness.startAOP("coordinator", environment: ["AOP_CONFIG": file])
                try await eventually("the coordinator listens") { coordinator.stdout.contains("listening on \(harness.endpoint)") }
                #expect(FileManager.default.fileExists(atPath: "\(harness.directory)/journal"))
                _ = harness.startAOP("worker", "--config", file, "--label", "slow", environment: ["AOP_SLOTS": "1"])
                _ = try await harness.waitForExecutors(2)
                let listed = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)["workers"].elements
                #expect(listed.allSatisfy { $0["slots"].number == 1 && $0["labels"].elements.compactMap(\.string) == ["slow"] })
                #expect(listed.allSatisfy { $0["resources"]["gpus"]["amount"].number == 2 })
            }
        }

        @Test func show_tellsEachValueAndItsOrigin_andWrongOnesAreRefusedByFileLineAndSetting() async throws {
            try await ProcessHarness.with { harness in
                let file = try harness.write("config.yaml", "# of this host\nslots: 3\nlabels: [fast]\n")
                let shown = try await harness.aop("config", "show", "--config", file, "-o", "json", environment: ["AOP_GRACE": "5s"])
                #expect(shown.status == 0)
                let json = try JSON(parsing: shown.text)
                func setting(_ name: String) throws -> JSON {
                    try #require(json["settings"].elements.first { $0["name"].string == name })
                }
                #expect(try setting("slots")["value"].string == "3")
                #expect(try setting("slots")["file"].string == file)
                #expect(try setting("slots")["line"].number == 2)
                #expect(try setting("labels")["value"].elements.compactMap(\.string) == ["fast"])
                #expect(try setting("grace")["from"].string == "environment")
                #expect(try setting("http")["from"].string == "default")
                #expect(try setting("http")["value"].string == "127.0.0.1:7601")
                let text = try await harness.aop("config", "show", "--config", file)
                #expect(text.text.contains("\(file):2"))

                let wrong = try harness.write("wrong.yaml", "slots: 3\nslotz: 4\n")
                for command in [["list"], ["config", "show"], ["worker"], ["coordinator"]] {
                    let refused = try await harness.start(BuiltProducts.aop, command + ["--config", wrong]).finish()
                    #expect(refused.status == 64)
                    #expect(refused.stderr.contains("\(wrong):2: unknown setting `slotz`, did you mean `slots`?"))
                }
                let resource = try harness.write("resource.yaml", "resources:\n  - gpus\n")
                let refused = try await harness.aop("config", "show", "--config", resource)
                #expect(refused.status == 64)
                #expect(refused.stderr.contains("\(resource):1: resources: --resource gpus: write it as gpus=2"))
            }
        }
    }
}
