import Foundation
import Glibc
import Testing

@testable import Wire

@Suite struct KeyTests {
    /// A fresh directory that goes with the test.
    final class Directory: Sendable {
        let path: String
        init() throws {
            path = NSTemporaryDirectory() + "aop-keys-\(UUID().uuidString)"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        deinit {
            do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record("\(path) was not removed: \(error)") }
        }
    }

    @Test func pair_isMadeByLibzmq_andItsSecretNeverShows() throws {
        let pair = try KeyPair()
        #expect(pair.publicKey.text.utf8.count == 40)
        #expect(try KeyPair(pair.secretKey).publicKey == pair.publicKey)
        #expect(try KeyPair().publicKey != pair.publicKey)
        var dumped = ""
        dump(pair, to: &dumped)
        for text in [dumped, "\(pair)", "\(pair.secretKey)", String(reflecting: pair.secretKey), String(reflecting: pair)] {
            #expect(!text.contains(pair.secretKey.text))
        }
        #expect(PublicKey("too short") == nil)
        // Of 85 that are drawn one would begin as options do.
        #expect(try !(0..<1_000).contains { _ in try KeyPair().publicKey.text.hasPrefix("-") })
        #expect(PublicKey(String(repeating: "\"", count: 40)) == nil)
    }

    @Test func file_isReadAsItWasWritten_andNeverWrittenOver() throws {
        let directory = try Directory()
        let (server, pair) = (try KeyPair(), try KeyPair())
        let path = directory.path + "/worker.key"
        try KeyFile(name: "worker", pair: pair, serverKey: server.publicKey).write(to: path)
        let read = try KeyFile(contentsOf: path)
        #expect(read.name == "worker")
        #expect(read.path == path)
        #expect(read.pair.publicKey == pair.publicKey)
        #expect(read.pair.secretKey.text == pair.secretKey.text)
        #expect(read.serverKey == server.publicKey)
        #expect(throws: KeyError.exists(path: path)) {
            try KeyFile(name: "worker", pair: server, serverKey: server.publicKey).write(to: path)
        }
        #expect(try KeyFile(contentsOf: path).pair.publicKey == pair.publicKey)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["worker.key"])
    }

    @Test func file_ofAnotherModeOrKind_isRefusedByName_withTheRemedy() throws {
        let directory = try Directory()
        let path = directory.path + "/worker.key"
        try KeyFile(name: "worker", pair: try KeyPair(), serverKey: try KeyPair().publicKey).write(to: path)
        for mode: mode_t in [0o644, 0o640, 0o400, 0o700] {
            chmod(path, mode)
            #expect(throws: KeyError.mode(path: path, mode: mode)) { try KeyFile(contentsOf: path) }
        }
        #expect(
            "\(KeyError.mode(path: path, mode: 0o644))".contains(
                "has mode 0644, and must have 0600; if nobody else has used it: chmod 600 \(path)"))
        chmod(path, 0o600)
        let link = directory.path + "/link.key"
        symlink(path, link)
        #expect(throws: KeyError.notARegularFile(path: link)) { try KeyFile(contentsOf: link) }
        let nothing = directory.path + "/nothing.key"
        #expect(throws: KeyError.missing(path: nothing)) { try KeyFile(contentsOf: nothing) }
        if geteuid() == 0 {
            chown(path, 12345, 0)
            #expect(throws: KeyError.foreign(path: path, owner: 12345)) { try KeyFile(contentsOf: path) }
        }
    }

    @Test(arguments: [mode_t(0o770), 0o702, 0o1777]) func directoryThatOthersMayWrite_isRefused_whereItIsForKeys(mode: mode_t) throws {
        let directory = try Directory()
        let path = directory.path
        _ = try InitialKeys.make(in: path)
        let before = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        chmod(path, mode)
        let refused = KeyError.directoryMode(path: path, mode: mode)
        #expect(throws: refused) { try CoordinatorKeys(directory: path) }
        #expect(throws: refused) { try InitialKeys.make(in: path) }
        #expect(throws: refused) { try JoiningKey.prepare(try JoinTokenTests.token(), directory: path) }
        #expect(throws: refused) { try AuthorizedKeys.change(at: "\(path)/authorized") { keys in _ = keys.revoke("worker") } }
        #expect("\(refused)".hasSuffix("; chmod go-w \(path)"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == before)
        // A single file that somebody has named may be anywhere.
        #expect(try KeyChoice.file("\(path)/worker.key").key(for: .standard, names: [])?.name == "worker")
        chmod(path, 0o755)
        #expect(try CoordinatorKeys(directory: path).authorized().principals.count == 3)
    }

    @Test func coordinatorsKey_isNoPeers_andInNoList() throws {
        let directory = try Directory()
        let path = directory.path
        _ = try InitialKeys.make(in: path)
        let (file, list) = ("\(path)/coordinator.key", "\(path)/authorized")
        let own = try CoordinatorKeys(directory: path)
        try AuthorizedKeys.change(at: list) { keys throws(KeyError) in
            try keys.authorize(Principal(name: "eve", key: own.pair.publicKey, roles: [.submit]))
        }
        let listed = KeyError.listsOwnKey(own.pair.publicKey, name: "eve", path: list)
        #expect(throws: listed) { try own.authorized() }
        #expect("\(listed)".contains("; `aop keys revoke --dir \(path) -- '\(own.pair.publicKey)'` takes it out"))
        unlink(file)
        try KeyFile(name: "worker", pair: try KeyPair(), serverKey: own.pair.publicKey).write(to: file)
        #expect(throws: KeyError.peersKey(path: file)) { try CoordinatorKeys(directory: path) }
        #expect("\(KeyError.peersKey(path: file))".contains("has a `server-key`, so it is a peer's key"))
    }

    @Test func listThatIsMissing_isSaid_withWhatMakesIt() throws {
        let directory = try Directory()
        let path = directory.path
        _ = try InitialKeys.make(in: path)
        unlink("\(path)/authorized")
        let missing = KeyError.noList(path: "\(path)/authorized")
        #expect(throws: missing) { try CoordinatorKeys(directory: path).authorized() }
        #expect(
            "\(missing)"
                == "the list of authorised keys \(path)/authorized is missing; `aop keys authorize NAME --role ROLE --dir \(path)` makes it"
        )
        try AuthorizedKeys.change(at: "\(path)/authorized") { keys throws(KeyError) in
            try keys.authorize(Principal(name: "worker", key: try KeyFile(contentsOf: "\(path)/worker.key").pair.publicKey, roles: [.work]))
        }
        #expect(try CoordinatorKeys(directory: path).authorized().principals.map(\.name) == ["worker"])
    }

    /// It holds no secret, so that nobody is told to make other keys; who may have written into it is to be looked for.
    @Test(arguments: [(mode_t(0o644), ""), (0o660, ", and see with `aop keys list --dir DIRECTORY` whether all in it are to be let in")])
    func listOfAnotherMode_isMendedByItsMode(mode: mode_t, look: String) throws {
        let directory = try Directory()
        let path = directory.path
        _ = try InitialKeys.make(in: path)
        let list = "\(path)/authorized"
        chmod(list, mode)
        let refused = KeyError.listMode(path: list, mode: UInt32(mode))
        #expect(throws: refused) { try CoordinatorKeys(directory: path).authorized() }
        #expect(throws: refused) { try AuthorizedKeys.change(at: list) { keys in _ = keys.revoke("worker") } }
        #expect(
            "\(refused)".hasPrefix("the list of authorised keys \(list) has mode 0")
                && "\(refused)".hasSuffix("; chmod 600 \(list)\(look.replacing("DIRECTORY", with: path))"), "\(refused)")
    }

    @Test func directoryThatCannotBeMade_isSaid_withTheFlagThatNamesAnother() throws {
        let directory = try Directory()
        let file = directory.path + "/file"
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        let error = #expect(throws: KeyError.self) { try InitialKeys.make(in: "\(file)/keys") }
        #expect(
            error.map { "\($0)" }
                == "mkdir failed for \(file)/keys: Not a directory; name a directory you can write to with --dir (AOP_KEYS)")
    }

    /// Copied as they are, commands of errors work on the directory that the errors are about.
    @Test func commandsOfErrors_nameTheDirectory() throws {
        let key = try KeyPair().publicKey
        let path = "/srv/keys/authorized"
        let errors: [(KeyError, String)] = [
            (.taken(key, by: "ci", path: path), "`aop keys revoke ci --dir /srv/keys`"),
            (.taken(key, by: "ci", path: ""), "`aop keys revoke ci`"),
            (.unknownPrincipal("ci", path: path), "`aop keys list --dir /srv/keys`"),
            (.usedToken(name: "ci", key: key, path: path), "aop keys revoke --dir /srv/keys -- '\(key)'"),
            (.emptied(path: path), "`aop keys revoke NAME --dir /srv/keys`"),
        ]
        for (error, command) in errors { #expect("\(error)".contains(command), "\(error)") }
    }

    @Test func lineThatCannotBeRead_isNamed_withWhatToDo() throws {
        let key = try KeyPair().publicKey
        for line in ["ci \(key) janitor", "ci \(key)", "/ci \(key) work", "ci short work"] {
            do throws(KeyError) {
                _ = try AuthorizedKeys(text: "# who may\n\(line)\n", path: "/srv/keys/authorized")
                Issue.record("`\(line)` was taken")
            } catch {
                #expect(
                    "\(error)".hasPrefix("/srv/keys/authorized:2: ") && "\(error)".hasSuffix("; mend that line, or take it out"), "\(error)"
                )
            }
        }
    }

    @Test func listThatLetsNobodyIn_isKnownByWhatIsOpen() throws {
        let (key, token) = (try KeyPair().publicKey, try KeyPair().publicKey)
        let enrolment = Enrolment(name: "host2", token: token, roles: [.work], until: 5_000)
        #expect(!AuthorizedKeys().letsAnybodyIn(at: 0))
        #expect(AuthorizedKeys([Principal(name: "a", key: key, roles: [.work])]).letsAnybodyIn(at: 0))
        let offered = AuthorizedKeys([], enrolments: [enrolment])
        #expect(offered.letsAnybodyIn(at: 4_999) && !offered.letsAnybodyIn(at: 5_000))
    }

    @Test func file_thatIsBroken_isRefused_withoutItsSecret() throws {
        let directory = try Directory()
        let (pair, other) = (try KeyPair(), try KeyPair())
        let path = directory.path + "/worker.key"
        for text in [
            "", "name worker\n", "name worker\npublic-key \(pair.publicKey)\nsecret-key \(other.secretKey.text)\n",
            "name worker\npublic-key \(pair.publicKey)\nsecret-key \(pair.secretKey.text)\nserver-key short\n",
            "name worker\n\(pair.secretKey.text)\n", "name ../worker\npublic-key \(pair.publicKey)\nsecret-key \(pair.secretKey.text)\n",
            "name worker\nname worker\n",
        ] {
            try PrivateFile.write(text, to: path, replaces: true)
            do {
                _ = try KeyFile(contentsOf: path)
                Issue.record("`\(text)` was taken")
            } catch {
                guard case KeyError.malformed = error else { throw error }
                #expect("\(error)".contains(path))
                #expect(!"\(error)".contains(pair.secretKey.text) && !"\(error)".contains(other.secretKey.text))
            }
        }
    }

    @Test func authorizedKeys_areReadAsTheyWereWritten_andWrongLinesAreNamed() throws {
        let directory = try Directory()
        let path = directory.path + "/authorized"
        let keys = AuthorizedKeys([
            Principal(name: "admin", key: try KeyPair().publicKey, roles: [.admin]),
            Principal(
                name: "ci@build", key: try KeyPair().publicKey, roles: [.observe, .submit], operations: ["noop", "CountWords"],
                labels: ["zone=a"]),
        ])
        try keys.write(to: path, replaces: false)
        #expect(try AuthorizedKeys(contentsOf: path) == keys)
        #expect(throws: KeyError.exists(path: path)) { try keys.write(to: path, replaces: false) }
        let key = keys.principals[0].key
        for (line, problem) in [
            ("worker \(key)", "a line is a name"), ("worker short work", "no public key"), ("worker \(key) root", "`root` is no role"),
            ("worker \(key) work limits=a", "`limits=a` is no limit"), ("worker \(key) work labels=", "`labels=` is no limit"),
            ("worker \(key) work labels=a labels=b", "is there twice"), ("a \(key) work\nb \(key) work", "it is also the one of `a`"),
            ("-x \(key) work", "cannot name a key"),
        ] {
            try PrivateFile.write(line + "\n", to: path, replaces: true)
            do {
                _ = try AuthorizedKeys(contentsOf: path)
                Issue.record("`\(line)` was taken")
            } catch { #expect("\(error)".contains(problem), "\(error)") }
        }
    }

    @Test func authorizing_addsOrReplaces_revokingRemoves_andBothKeepTheOthers() throws {
        let directory = try Directory()
        let path = directory.path + "/authorized"
        let (one, two) = (try KeyPair().publicKey, try KeyPair().publicKey)
        try AuthorizedKeys.change(at: path) { keys throws(KeyError) in
            try keys.authorize(Principal(name: "host", key: one, roles: [.work]))
            try keys.authorize(Principal(name: "host", key: two, roles: [.work]))
            try keys.authorize(Principal(name: "host", key: one, roles: [.observe]))
        }
        #expect(try AuthorizedKeys(contentsOf: path).principals.map(\.roles) == [[.observe], [.work]])
        #expect(throws: KeyError.taken(one, by: "host", path: path)) {
            try AuthorizedKeys.change(at: path) { keys throws(KeyError) in
                try keys.authorize(Principal(name: "other", key: one, roles: [.admin]))
            }
        }
        let removed = try AuthorizedKeys.change(at: path) { keys throws(KeyError) in keys.revoke(one.text) }
        #expect(removed.map(\.key) == [one])
        #expect(try AuthorizedKeys(contentsOf: path).principals.map(\.key) == [two])
        #expect(try AuthorizedKeys.change(at: path) { keys throws(KeyError) in keys.revoke("host") }.count == 1)
        #expect(try AuthorizedKeys(contentsOf: path).principals.isEmpty)
        #expect(try mode(path) == 0o600)
    }

    @Test func remarks_stayWhereTheyAre_whenTheFileIsChanged() throws {
        let directory = try Directory()
        let path = directory.path + "/authorized"
        let keys = try (0..<4).map { _ in try KeyPair().publicKey }
        let before = "# ours\n\n# the build\nci \(keys[0]) submit\n\n# hosts\nhost \(keys[1]) work\n# last\n"
        try PrivateFile.write(before, to: path, replaces: false)
        try AuthorizedKeys.change(at: path) { keys in _ = keys.revoke("nobody") }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == before)
        try AuthorizedKeys.change(at: path) { file throws(KeyError) in
            try file.authorize(Principal(name: "new", key: keys[2], roles: [.observe]))
            try file.authorize(Principal(name: "ci", key: keys[0], roles: [.submit, .observe]))
            file.offer(Enrolment(name: "host2", token: keys[3], roles: [.work], until: 4_102_444_800_000), at: 0)
            _ = file.revoke("host")
        }
        let after =
            "# ours\n\n# the build\nci \(keys[0]) submit,observe\n\n# hosts\n# last\nnew \(keys[2]) observe\n"
            + "enrol host2 \(keys[3]) work until=2100-01-01T00:00:00Z\n"
        #expect(try String(contentsOfFile: path, encoding: .utf8) == after)
        #expect(try AuthorizedKeys(contentsOf: path).principals.map(\.name) == ["ci", "new"])
    }

    @Test func linesThatEndAsOnOtherSystems_areReadAsOthers() throws {
        let directory = try Directory()
        let path = directory.path + "/authorized"
        let (ann, bob) = (try KeyPair().publicKey, try KeyPair().publicKey)
        for ends in [["\r\n", "\r\n", "\r\n"], ["\r\n", "\n", "\n"], ["\n", "\r\n", "\n"]] {
            let text = "# who may come in\(ends[0])ann \(ann) submit\(ends[1])bob \(bob) work\(ends[2])"
            #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
            #expect(try AuthorizedKeys(contentsOf: path).principals.map(\.name).sorted() == ["ann", "bob"], "\(ends)")
        }
    }

    @Test func changes_nameWhoWasAddedRemovedAndChanged() throws {
        let keys = try (0..<6).map { _ in try KeyPair().publicKey }
        func token(_ name: String, _ key: PublicKey) -> Enrolment { Enrolment(name: name, token: key, roles: [.work], until: 5_000) }
        let before = AuthorizedKeys(
            [Principal(name: "ci", key: keys[0], roles: [.submit]), Principal(name: "eve", key: keys[1], roles: [.submit])],
            enrolments: [token("host1", keys[3]), token("host2", keys[4])])
        var after = AuthorizedKeys(
            [
                Principal(name: "ci", key: keys[0], roles: [.submit], operations: ["noop"], labels: ["a"]),
                Principal(name: "ann", key: keys[2], roles: [.admin, .submit]),
            ], enrolments: [token("host2", keys[4]), token("host3", keys[5])])
        #expect(
            after.changes(since: before)
                == "added `ann` (submit, admin); removed `eve` (submit); changed `ci` (submit) to `ci` (submit; operations noop; labels a); "
                + "join tokens made for `host3`; join tokens taken back or expired of `host1`")
        #expect(after.changes(since: after).isEmpty)
        let offered = after
        _ = after.enrol(keys[3], for: keys[4], at: 1_000)
        #expect(after.changes(since: offered) == "added `host2` (work); join tokens used by `host2`")
        let many = AuthorizedKeys(try (0..<22).map { Principal(name: "n\($0)", key: try KeyPair().publicKey, roles: [.work]) })
        #expect(many.changes(since: AuthorizedKeys()).hasSuffix("`n19` (work) and 2 more"))
    }

    private func mode(_ path: String) throws -> Int {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func authorizedKeysOfAnotherUser_areNotChanged_andNoLockIsLeftBehind() throws {
        let directory = try Directory()
        let path = directory.path + "/authorized"
        try AuthorizedKeys().write(to: path, replaces: false)
        #expect(chown(path, 65_534, 65_534) == 0)
        #expect(throws: KeyError.foreignList(path: path, owner: 65_534)) {
            try AuthorizedKeys.change(at: path) { keys in _ = keys.revoke("nobody") }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["authorized"])
    }

    @Test func authorizedKeys_thatWouldBeTooLargeToBeRead_areNotWritten() throws {
        let directory = try Directory()
        let path = directory.path + "/authorized"
        let operations = (0..<1_000).map { "Operation\($0)" }
        let key = try KeyPair().publicKey
        let many = AuthorizedKeys((0..<120).map { Principal(name: "n\($0)", key: key, roles: [.submit], operations: operations) })
        #expect { try many.write(to: path, replaces: false) } throws: { "\($0)".contains("revoke what is not used") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test func choice_namedKeysAreUsedOnTcpOnly_andWhatIsMissingIsNamed() throws {
        let directory = try Directory()
        let pair = try KeyPair()
        try KeyFile(name: "submit", pair: pair, serverKey: try KeyPair().publicKey).write(to: directory.path + "/submit.key")
        let (near, far) = (try Endpoint("tcp://127.0.0.1:7600"), try Endpoint("tcp://10.1.2.3:7600"))
        let named = KeyChoice.directory(directory.path)
        #expect(try named.key(for: near, names: KeyDirectory.clientFiles)?.publicKey == pair.publicKey)
        #expect(try named.key(for: far, names: KeyDirectory.clientFiles)?.path == directory.path + "/submit.key")
        #expect(try named.key(for: try Endpoint("ipc:///tmp/x"), names: KeyDirectory.workerFiles) == nil)
        #expect(throws: KeyError.noneOf(names: ["worker.key"], directory: directory.path, endpoint: far)) {
            try named.key(for: far, names: KeyDirectory.workerFiles)
        }
        #expect(KeyChoice(file: nil, directory: "/d", environment: ["AOP_KEY": "/f"]) == .directory("/d"))
        #expect(KeyChoice(file: nil, directory: nil, environment: ["AOP_KEY": "/f", "AOP_KEYS": "/d"]) == .file("/f"))
        #expect(KeyChoice(file: nil, directory: nil, environment: [:]) == .standard)
        #expect(KeyDirectory.standard(environment: ["XDG_CONFIG_HOME": "/c"], isRoot: false) == "/c/aop/keys")
        #expect(KeyDirectory.standard(environment: ["HOME": "/h"], isRoot: false) == "/h/.config/aop/keys")
        #expect(KeyDirectory.standard(environment: ["HOME": "/h"], isRoot: true) == "/etc/aop/keys")
        #expect(throws: KeyError.noCoordinatorKey(directory: directory.path)) {
            try CoordinatorKeys.find(directory: directory.path, environment: [:])
        }
        let nowhere = directory.path + "/nowhere"
        #expect(throws: KeyError.noCoordinatorKey(directory: nowhere)) {
            try AuthorizedKeys.change(at: nowhere + "/authorized") { (_: inout AuthorizedKeys) throws(KeyError) -> Void in }
        }
    }
}
