import Foundation
import Testing

@testable import Settings

@Suite struct SettingsTests {
    /// A directory with configuration files that goes with the test.
    private final class Directory {
        let path: String

        init() throws {
            var template = Array("/tmp/aop-settings-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
            path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ name: String, _ text: String) throws -> String {
            try text.write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
            return "\(path)/\(name)"
        }
    }

    private func problems(_ text: String, environment: [String: String] = [:]) throws -> [String] {
        let directory = try Directory()
        let file = try directory.write("config.yaml", text)
        return Settings(environment: environment, named: file).problems.map { "\($0)".replacing(directory.path + "/", with: "") }
    }

    @Test func environment_outranksTheUsersFile_whichOutranksTheHosts_andEachSaysWhereItIsFrom() throws {
        let directory = try Directory()
        let user = try directory.write("user.yaml", "# mine\nslots: 3\nlabels: [fast, zone=a]\n")
        let host = try directory.write("host.yaml", "slots: 9\nprocesses: 2\ngrace: 10s\n")
        let settings = Settings(
            environment: ["AOP_PROCESSES": "4", "AOP_RESOURCES": "gpus=2, licence=1", "AOP_GRACE": ""], standardFiles: [user, host])
        #expect(settings[.slots] == .init(texts: ["3"], origin: .file(path: user, line: 2)))
        #expect(settings[.labels] == .init(texts: ["fast", "zone=a"], origin: .file(path: user, line: 3)))
        #expect(settings[.processes] == .init(texts: ["4"], origin: .environment("AOP_PROCESSES")))
        #expect(settings[.resources]?.texts == ["gpus=2", "licence=1"])
        #expect(settings[.grace]?.origin == .file(path: host, line: 3))
        #expect(settings[.shell] == nil)
        #expect(settings.files.map(\.path) == [user, host] && settings.files.allSatisfy(\.isThere))
    }

    @Test func namedFile_isTheOnlyOne_andMustBeThere() throws {
        let directory = try Directory()
        let named = try directory.write("named.yaml", "slots: 5\n")
        let host = try directory.write("host.yaml", "processes: 2\n")
        for environment in [["AOP_CONFIG": named], [:]] {
            let settings = Settings(
                environment: environment, named: environment.isEmpty ? named : nil, standardFiles: [host])
            #expect(settings[.slots]?.texts == ["5"])
            #expect(settings[.processes] == nil)
        }
        #expect(
            Settings(environment: ["AOP_CONFIG": "/nowhere/config.yaml"]).problems.map(\.description)
                == ["/nowhere/config.yaml: no such file"])
        #expect(Settings(environment: [:], standardFiles: ["/nowhere/config.yaml"]).files.map(\.isThere) == [false])
        #expect(Settings.named(["aop", "list", "--config", "a", "--", "--config=b"]) == "a")
        #expect(Settings.named(["aop", "--config=b"]) == "b")
        #expect(Settings.named(["aop", "run", "--", "--config", "a"]) == nil)
        #expect(
            Settings.standardFiles(environment: ["HOME": "/h", "XDG_CONFIG_HOME": "relative"])
                == ["/h/.config/aop/config.yaml", "/etc/aop/config.yaml"])
        #expect(Settings.standardFiles(environment: ["XDG_CONFIG_HOME": "/c"])[0] == "/c/aop/config.yaml")
    }

    @Test func keyOfTheEnvironment_isNotMixedWithThatOfAFile() throws {
        let directory = try Directory()
        let file = try directory.write("config.yaml", "key-file: /file.key\nslots: 2\n")
        let settings = Settings(environment: ["AOP_KEYS": "/keys"], named: file)
        #expect(settings[.keyFile] == nil)
        #expect(settings[.keys]?.texts == ["/keys"])
        #expect(settings[.slots] != nil)
        #expect(Settings(environment: [:], named: file)[.keyFile]?.texts == ["/file.key"])
    }

    @Test func keyOfTheUser_isNotMixedWithThatOfTheHost() throws {
        let directory = try Directory()
        let user = try directory.write("user.yaml", "keys: /mine\n")
        let host = try directory.write("host.yaml", "slots: 2\nkey-file: /hosts.key\n")
        let settings = Settings(environment: [:], standardFiles: [user, host])
        #expect(settings[.keys]?.texts == ["/mine"] && settings[.keyFile] == nil)
        #expect(settings[.slots]?.texts == ["2"])
        let one = try directory.write("one.yaml", "key-file: /a.key\nkeys: /b\n")
        let both = Settings(environment: [:], standardFiles: [one, host])
        #expect(both[.keyFile]?.texts == ["/a.key"] && both[.keys]?.texts == ["/b"])
        // Whatever key a user's clients have: a coordinator would let everybody of its host in otherwise.
        let coordinators = try directory.write("coordinators.yaml", "keys: /b\n")
        let own = Settings(environment: ["AOP_KEY": "/a.key"], named: coordinators)
        #expect(own[.keyFile]?.texts == ["/a.key"] && own[.keys]?.texts == ["/b"])
    }

    @Test(arguments: [
        ("AOP_LISTN", "AOP_LISTEN"), ("AOP_COORDINATR", "AOP_COORDINATOR"), ("AOP_LABEL", "AOP_LABELS"), ("AOP_KEY_FILE", "AOP_KEY"),
        ("AOP_RESOURCE", "AOP_RESOURCES"), ("AOP_CONFIGG", "AOP_CONFIG"), ("AOP_log_level", "AOP_LOG_LEVEL"),
        ("AOP_SNAPSHOTBYTES", "AOP_SNAPSHOT_BYTES"),
    ]) func aVariableThatIsNearASetting_isTold(_ name: String, _ meant: String) {
        let found = MisspeltVariable.all(in: [name: "x", "AOP_SLOTS": "2", "PATH": "/bin"])
        #expect(found == [MisspeltVariable(name: name, meant: meant)])
        #expect("\(found[0])" == "\(name) is no setting, and counts for nothing; did you mean \(meant)?")
    }

    /// What commands of graphs get, tests are told, and others may call theirs.
    @Test(
        arguments: Setting.allCases.map(\.variable) + [
            "AOP_CONFIG", "AOP_FENCE_DB", "AOP_FENCES", "AOP_RESOURCE_GPUS", "AOP_PATH", "AOP_WORKER", "AOP_SUBMISSION", "AOP_ATTEMPT",
            "AOP_IDEMPOTENCY_KEY", "AOP_WORKER_PROCESS", "AOP_EXECUTOR", "AOP_TEST_MARK", "AOP_UNRELATED_THING", "AOP_", "XAOP_LISTN",
            "LISTN",
        ]) func otherVariables_areNotTold(_ name: String)
    { #expect(MisspeltVariable.all(in: [name: "x"]).isEmpty) }

    @Test(arguments: [
        ("1m", true), ("7d", true), ("1h30m", true), ("01m5ms", true), ("forever", true), ("5ms", false), ("1000ms", false), ("59s", false),
        ("0m", false), ("m", false), ("7", false), ("for ever", false),
    ]) func retention_beginsWithMinutesHoursOrDays(_ text: String, _ isSound: Bool) {
        let settings = Settings(environment: ["AOP_RETAIN": text], standardFiles: [])
        #expect(settings.problems.isEmpty == isSound, "\(settings.problems)")
    }

    @Test(arguments: [("30d", true), ("forever", true), ("off", true), ("0", false), ("no", false)])
    func history_isARetention_orOff(_ text: String, _ isSound: Bool) {
        #expect(Settings(environment: ["AOP_HISTORY": text], standardFiles: []).problems.isEmpty == isSound)
        // `off` is the history's alone.
        #expect(!Settings(environment: ["AOP_RETAIN": "off"], standardFiles: []).problems.isEmpty)
    }

    @Test func everyError_isNamedAtOnce_withFileLineSettingAndRemedy() throws {
        let found = try problems(
            """
            slot: 4
            slots: many
            shell: true
            listen: [tcp://0.0.0.0:7600, nowhere, inproc://x]
            grace: soon
            connect:
              - tcp://a:1
              - tcp://b:1
            data: ""
            """, environment: ["AOP_PROCESSES": "0", "AOP_LOG_LEVEL": "loud", "AOP_CONNECT": "host"])
        #expect(
            found == [
                "AOP_LOG_LEVEL is `loud`; it must be one of trace, debug, info, notice, warning, error, critical",
                "AOP_CONNECT is `host`; write tcp://host", "AOP_PROCESSES is `0`; it must be a whole number from 1 to 4096",
                "config.yaml:1: unknown setting `slot`, did you mean `slots`?; `aop config show` lists all of them",
                "config.yaml:2: slots is `many`; it must be a whole number from 1 to 4096",
                "config.yaml:3: shell is `true`; it must be one of on, off",
                "config.yaml:4: listen is `nowhere`; write tcp://nowhere",
                "config.yaml:4: listen is `inproc://x`; only its own process reaches it; write tcp://HOST:PORT or ipc:///PATH",
                "config.yaml:5: grace is `soon`; write a duration as 30s, 1m30s or 500ms",
                "config.yaml:6: connect is a list; it has one value", "config.yaml:9: data is empty; leave it out, or give it a value",
            ])
    }

    /// Of lists each element, of lists that name something twice, and of what is no entry at all beside what is one.
    @Test func everyErrorOfAFile_isNamed_alsoWhereSomethingIsNoEntry() throws {
        let found = try problems(
            """
            slots: 1
            slots: 2
            worker: {slots: 1}
            labels: [[a], b, {c: d}]
            resources: [gpus, GPU=1, cpus=1, cpus=2, "", memory=2PiB]
            listen: [tcp://a:1, tcp://a:1, b, "tcp://a:*", "tcp://a:*"]
            pass-env: [A=b, HOME, C=d]
            http: nonsense
            grace: 999999999d
            retain: 9s
            processes: 0
            """)
        #expect(
            found == [
                "config.yaml:2:1: `slots` is named twice", "config.yaml:3:9: worker: expected a value or a list, found a map",
                "config.yaml:4:10: labels: expected a list of texts or numbers, found a list in it",
                "config.yaml:4:18: labels: expected a list of texts or numbers, found a map in it",
                "config.yaml:5: resources is `gpus`; write it as gpus=2 or memory=16GiB",
                "config.yaml:5: resources is `GPU=1`; `GPU` cannot name a resource: use lower-case letters, digits and `_`, a letter first",
                "config.yaml:5: resources names `cpus` twice; give each once",
                "config.yaml:5: resources is empty; leave it out, or give it a value",
                "config.yaml:5: resources is `memory=2PiB`; the amount must be a whole number from 0, or a size such as 16GiB, up to 1 PiB",
                "config.yaml:6: listen names `tcp://a:1` twice; give each once", "config.yaml:6: listen is `b`; write tcp://b",
                "config.yaml:7: pass-env is `A=b`; give the name of a variable, without its value",
                "config.yaml:7: pass-env is `C=d`; give the name of a variable, without its value",
                "config.yaml:8: http is `nonsense`; write HOST:PORT, e.g. 127.0.0.1:7601, or off",
                "config.yaml:9: grace is `999999999d`; write a duration as 30s, 1m30s or 500ms",
                "config.yaml:10: retain is `9s`; write it as 7d, 12h or 1h30m, at least 1m, or forever",
                "config.yaml:11: processes is `0`; it must be a whole number from 1 to 4096",
            ])
    }

    @Test func problem_hasItsSettingValueOriginAndRemedy() throws {
        let problem = try #require(Settings(environment: ["AOP_SLOTS": "many"], standardFiles: []).problems.first)
        #expect(problem.setting == .slots && problem.value == "many" && problem.origin == .environment("AOP_SLOTS"))
        #expect(problem.text == "AOP_SLOTS is `many`" && problem.remedy == "it must be a whole number from 1 to 4096")
        #expect(Setting.slots.problems(ofFlag: ["0"]).map(\.description) == ["--slots is `0`; it must be a whole number from 1 to 4096"])
        #expect(Setting.labels.problems(ofFlag: [""]).map(\.description) == ["--label is empty; leave it out, or give it a value"])
        #expect(Setting.slots.problems(ofFlag: []).isEmpty && Setting.labels.problems(ofFlag: ["a", "a"]).isEmpty)
    }

    @Test(
        arguments: [
            ("slots: [1\n", "config.yaml:2:1: not valid YAML"),
            ("- slots\n", "config.yaml:1:1: expected settings as `name: value`, found a list"),
            ("slots: 1\nslots: 2\n", "config.yaml:2:1: `slots` is named twice"),
            ("worker: {slots: 1}\n", "config.yaml:1:9: worker: expected a value or a list, found a map"),
            ("labels: [[a]]\n", "config.yaml:1:10: labels: expected a list of texts or numbers, found a list in it"),
        ]) func whatIsNoSuchFile_isSaidWithItsPlace(_ text: String, _ message: String) throws
    {
        let found = try problems(text)
        #expect(found.count == 1 && found[0].hasPrefix(message), "\(found)")
    }

    @Test(arguments: ["", "# nothing yet\n", "log-level: WARNING\nshell: on\nlisten: ipc:///run/x\n"]) func soundFiles_areRead(
        _ text: String
    ) throws { #expect(try problems(text).isEmpty) }

    @Test func everySetting_hasAVariableAndAFlagOfItsOwn() {
        #expect(Set(Setting.allCases.map(\.variable)).count == Setting.allCases.count)
        #expect(Set(Setting.allCases.map(\.flag)).count == Setting.allCases.count)
        #expect(Setting.allCases.allSatisfy { $0.variable.hasPrefix("AOP_") && $0.flag.hasPrefix("--") })
    }
}
