import Foundation
import Testing

extension SystemTests {
    /// `aop doctor` on hosts that something is wrong with.
    @Suite struct Doctor {
        /// What it finds, and its exit code.
        private func findings(
            _ harness: ProcessHarness, _ environment: [String: String] = [:], _ arguments: String...
        ) async throws -> (
            status: Int32, findings: [JSON]
        ) {
            let quiet = ["AOP_HTTP": "off", "AOP_LISTEN": harness.endpoint, "AOP_DATA": "\(harness.directory)/data"]
            let ran = try await harness.start(
                BuiltProducts.aop, ["doctor", "--connect-timeout", "2s", "-o", "json"] + arguments,
                environment: quiet.merging(environment) { $1 }
            ).finish()
            let json = try JSON(parsing: ran.text)
            #expect(json["schema"] == 1)
            let findings = json["findings"].elements
            #expect(findings.allSatisfy { $0.keys == ["check", "status", "text", "remedy"] }, "\(ran)")
            #expect(json["errors"] == .number(Double(findings.count { $0["status"] == "error" })))
            return (ran.status, findings)
        }

        private func wrong(_ findings: [JSON]) -> [String] {
            findings.filter { $0["status"] != "ok" }.map {
                "\($0["status"].string ?? "") \($0["check"].string ?? ""): \($0["text"].string ?? "") → \($0["remedy"].string ?? "")"
            }
        }

        @Test func fullMarks_whereAllIsThere() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "3")
                _ = try await harness.waitForExecutors(2)
                let http = try await eventually("the dashboard's address") {
                    coordinator.stderr.firstMatch(of: /http:\/\/([0-9.:]+)\//).map { String($0.output.1) }
                }
                let (status, found) = try await findings(harness, ["AOP_HTTP": http])
                #expect(status == 0 && wrong(found).isEmpty, "\(wrong(found))")
                let texts = found.compactMap { $0["text"].string }
                #expect(texts.contains("2 attached on 1 host, with 6 slots"), "\(texts)")
                #expect(texts.contains("http://\(http)/ is a coordinator's dashboard"), "\(texts)")
                #expect(texts.contains("within some seconds of the coordinator's"), "\(texts)")
                let version = try await harness.aop("--version").text.trimmingCharacters(in: .newlines)
                #expect(texts.contains("\(harness.endpoint) answers: \(version)"), "\(texts)")
                let listed = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)["workers"].elements
                #expect(listed.compactMap { $0["version"].string } == Array(repeating: version.replacing("aop ", with: ""), count: 2))
                let text = try await harness.aop("doctor", environment: ["AOP_HTTP": "off", "AOP_LISTEN": harness.endpoint])
                #expect(text.status == 0 && text.text.hasSuffix("\nnothing is wrong\n"), "\(text)")
                let quiet = try await harness.aop(
                    "doctor", "-o", "quiet", environment: ["AOP_HTTP": "off", "AOP_LISTEN": harness.endpoint])
                #expect(quiet.status == 0 && quiet.text.isEmpty, "\(quiet)")
            }
        }

        @Test func noCoordinator_isAnError_andTheRestIsCheckedAsWell_andNothingIsMade() async throws {
            try await ProcessHarness.with { harness in
                let (status, found) = try await findings(harness)
                #expect(status == 1)
                #expect(
                    wrong(found).count == 1 && wrong(found)[0].hasPrefix("error coordinator: no coordinator answers at "), "\(wrong(found))"
                )
                #expect(wrong(found)[0].contains("→ start one with `aop coordinator`"), "\(wrong(found))")
                #expect(Set(found.compactMap { $0["check"].string }).isSuperset(of: ["configuration", "keys", "data", "limits"]))
                #expect(!FileManager.default.fileExists(atPath: "\(harness.state)/aop"))
                #expect(!FileManager.default.fileExists(atPath: "\(harness.directory)/data"))
                #expect(harness.temporaryFiles.isEmpty)
            }
        }

        @Test func coordinatorWithoutWorkers_isAWarning_whichFailsNothing() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let (status, found) = try await findings(harness)
                #expect(status == 0)
                #expect(wrong(found) == ["warning workers: none is attached: what is submitted waits → start one with `aop worker`"])
            }
        }

        @Test func keysThatOthersMayRead_areNamedWithTheRemedy() async throws {
            try await ProcessHarness.with { harness in
                let keys = "\(harness.directory)/keys"
                #expect(try await harness.aop("keys", "init", "--dir", keys).status == 0)
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                _ = try await harness.waitForExecutors(1)
                let (sound, before) = try await findings(harness, [:], "--keys", keys)
                #expect(sound == 0 && wrong(before).isEmpty, "\(wrong(before))")
                #expect(chmod("\(keys)/submit.key", 0o644) == 0)
                let (status, after) = try await findings(harness, ["AOP_KEYS": keys])
                #expect(status == 1)
                #expect(
                    wrong(after) == [
                        "error keys: the key file \(keys)/submit.key has mode 0644, and must have 0600 → if nobody else has used it: "
                            + "chmod 600 \(keys)/submit.key, else make new keys"
                    ])
                #expect(chmod("\(keys)/submit.key", 0o600) == 0 && chmod(keys, 0o777) == 0)
                let (open, folder) = try await findings(harness, ["AOP_KEYS": keys])
                #expect(open == 1 && wrong(folder).count == 1 && wrong(folder)[0].hasSuffix("→ chmod go-w \(keys)"), "\(wrong(folder))")
                #expect(chmod(keys, 0o700) == 0)
                for name in ["worker", "submit", "admin"] {
                    #expect(try await harness.aop("keys", "revoke", name, "--dir", keys).status == 0)
                }
                let (nobody, empty) = try await findings(harness, ["AOP_KEYS": keys])
                #expect(
                    nobody == 0
                        && wrong(empty) == [
                            "warning keys: no key is in \(keys)/authorized, so that nobody is let in → "
                                + "`aop keys authorize NAME --role ROLE --dir \(keys)` lets somebody in"
                        ], "\(wrong(empty))")
                #expect(unlink("\(keys)/authorized") == 0)
                let (gone, list) = try await findings(harness, ["AOP_KEYS": keys])
                #expect(
                    gone == 1 && wrong(list).count == 1
                        && wrong(list)[0].hasPrefix("error keys: the list of authorised keys \(keys)/authorized is missing → "),
                    "\(wrong(list))")
                let (missing, none) = try await findings(harness, [:], "--keys", "\(harness.directory)/nowhere")
                #expect(
                    missing == 1 && wrong(none).first?.contains("aop keys init --dir \(harness.directory)/nowhere") == true,
                    "\(wrong(none))")
            }
        }

        @Test func cookieThatOthersMayRead_isNamed_andTheCoordinatorIsNotAsked() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let cookie = "\(harness.state)/aop/cookie"
                #expect(chmod(cookie, 0o640) == 0)
                let (status, found) = try await findings(harness)
                #expect(status == 1)
                #expect(
                    wrong(found).map { String($0.prefix(24)) } == ["error cookie: the cookie", "warning coordinator: not"],
                    "\(wrong(found))")
                #expect(wrong(found)[0].contains("chmod 600 \(cookie)"), "\(wrong(found))")
            }
        }

        @Test func cookieThatCannotBeMade_isAnError_withWhatToDo() async throws {
            try await ProcessHarness.with { harness in
                let file = try harness.write("file", "")
                let (status, found) = try await findings(harness, ["XDG_STATE_HOME": "\(file)/state"])
                #expect(status == 1)
                #expect(
                    wrong(found).filter { $0.contains(" cookie: ") } == [
                        "error cookie: the cookie cannot be read or made: mkdir failed for \(file)/state: Not a directory → "
                            + "set XDG_STATE_HOME to a directory you can write to"
                    ], "\(wrong(found))")
                let ran = try await harness.aop(
                    "coordinator", "--data", "\(harness.directory)/data",
                    environment: ["XDG_STATE_HOME": "\(file)/state", "AOP_HTTP": "off", "AOP_LISTEN": harness.endpoint])
                #expect(ran.status == 1 && ran.stderr.contains("mkdir failed for \(file)/state: Not a directory"), "\(ran)")
            }
        }

        @Test func configurationThatCannotBeUsed_isToldByFileAndLine_andMisspeltVariablesAreWarnings() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                _ = try await harness.waitForExecutors(1)
                let bad = try harness.write("bad.yaml", "slots: many\nlistn: [x]\n")
                let (status, found) = try await findings(harness, [:], "--config", bad)
                #expect(status == 1)
                let errors = wrong(found).filter { $0.hasPrefix("error configuration: \(bad):") }
                #expect(errors.count == 2 && errors[0].contains("\(bad):1: slots is `many`"), "\(wrong(found))")
                #expect(errors[1].contains("did you mean `listen`"), "\(wrong(found))")
                let http = try harness.write("http.yaml", "http: nonsense\n")
                let (refused, problems) = try await findings(harness, ["AOP_HTTP": ""], "--config", http)
                #expect(refused == 1 && wrong(problems).first?.contains("\(http):1: http is `nonsense`") == true, "\(wrong(problems))")
                let (fine, misspelt) = try await findings(harness, ["AOP_LISTN": "tcp://127.0.0.1:1"])
                #expect(fine == 0)
                #expect(
                    wrong(misspelt).count == 1 && wrong(misspelt)[0].hasPrefix("warning configuration: AOP_LISTN"), "\(wrong(misspelt))")
            }
        }

        @Test func portThatAnotherProgramHas_andAFolderThatOthersMayWrite_areErrors() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                _ = try await harness.waitForExecutors(1)
                let (descriptor, port) = try listener()
                defer { close(descriptor) }
                let folder = try harness.folders("open")[0]
                #expect(chmod(folder, 0o777) == 0)
                let (status, found) = try await findings(
                    harness, ["AOP_LISTEN": "tcp://127.0.0.1:\(port)", "AOP_HTTP": "127.0.0.1:\(port)", "AOP_DATA": folder])
                #expect(status == 1)
                let errors = wrong(found)
                #expect(errors.count == 3 && errors.allSatisfy { $0.hasPrefix("error ") }, "\(errors)")
                #expect(errors[0].contains("ports: tcp://127.0.0.1:\(port) is taken") && errors[0].contains("--listen"), "\(errors)")
                #expect(errors[1].contains("ports: http://127.0.0.1:\(port)/ is taken, and not by a coordinator"), "\(errors)")
                #expect(errors[2].contains("data: \(folder) has mode 777") && errors[2].contains("chmod go-w \(folder)"), "\(errors)")
            }
        }

        /// Listens on a free port of loopback, and answers nobody.
        private func listener() throws -> (descriptor: Int32, port: UInt16) {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isThere = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 && listen(descriptor, 4) == 0 && getsockname(descriptor, $0, &length) == 0
                }
            }
            guard isThere else { throw CocoaError(.fileWriteUnknown) }
            return (descriptor, UInt16(bigEndian: address.sin_port))
        }
    }
}
