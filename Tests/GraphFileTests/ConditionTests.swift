import GraphFile
import Testing

/// `conditions` in graph files.
@Suite struct ConditionTests {
    @Test func conditions_areRead_everywhere() throws {
        let text = """
            vars: {stage: test, zone: Europe/Berlin}
            conditions: [{timeWindow: "22:00-06:00"}]
            group:
              - {id: a, run: a}
              - {run: b, after: a, conditions: [{noFailedDependencies: true}, {noCancelledDependencies: true, negated: true}]}
              - {group: [], conditions: [{timeWindow: 8:00-24:00, zone: "${zone}", negated: false}]}
              - {forEach: [1], op: noop, conditions: [{rateLimit: {key: "api-${stage}", count: 10, per: 1m}}]}
            """
        let expected = #"""
            0 - group window=1320-360@
            1 a shell {"run":"a","variables":{"stage":"test","zone":"Europe/Berlin"}}
            2 run1 shell {"run":"b","variables":{"stage":"test","zone":"Europe/Berlin"}} after=[1] noFailed not(noCancelled)
            3 group2 group window=480-1440@Europe/Berlin
            4 op3 forEach as=item [1]
            5 op3/* noop templated {} in=4 rate=api-test:10/60000
            """#
        #expect(try outline(text) == expected)
    }

    @Test func anyAndAll_areRead_withTheirOperationsByPlace() throws {
        let text = """
            group:
              - run: a
                conditions:
                  - {fileExists: /x}
                  - any:
                      - {noFailedDependencies: true, negated: true}
                      - all: [{fileExists: /y, operation: {run: make}}, {command: "true"}]
                        negated: true
                  - {any: [{fileExists: /z, operation: {run: b}}], silent: true}
            """
        let graph = try GraphFileLoader.load(text: text, file: "g").graph
        let conditions = graph.nodes[1].conditions
        #expect(
            conditions.count == 3 && conditions[1].composed.form == .any && conditions[1].composed.parts.map(\.negated) == [true, true])
        #expect(conditions[1].composed.parts[1].composed.form == .all && conditions[1].composed.parts[1].composed.parts.count == 2)
        #expect(graph.nodes.dropFirst(2).map(\.id) == ["?FileExists.2"] && graph.nodes[2].prepares == 2)
    }

    @Test(arguments: [
        ("{any: []}", "1:39: n: `any` names no condition"),
        ("{any: {}}", "1:39: n: `any` must be a list of conditions such as `[{noFailedDependencies: true}]`, found a map"),
        ("{all: [{fileExists: /x}], wait: true}", "1:59: n: `wait` belongs to a condition inside of `all`; write it there"),
        ("{all: [{fileExists: /x}], operation: {run: x}}", "1:59: n: `operation` belongs to a condition inside of `all`; write it there"),
        ("{all: [{}]}", "1:40: n: a condition needs one of"),
    ])
    func mistakesInAnyAndAll_areNamed(condition: String, fault: String) {
        let found = faults("group: [{id: n, run: a, conditions: [\(condition)]}]")
        #expect(found.count == 1 && found[0].contains(fault.split(separator: ": ", maxSplits: 1)[1]), "\(found)")
    }

    @Test func tooManyAndTooDeep_areRefused() {
        let many = Array(repeating: "{fileExists: /x}", count: 65).joined(separator: ", ")
        #expect(
            faults("group: [{id: n, run: a, conditions: [{any: [\(many)]}]}]").first?
                .contains("`conditions` has more than 64 conditions in it, the most that are possible") == true)
        let deep = (0..<17).reduce("{fileExists: /x}") { inner, _ in "{all: [\(inner)]}" }
        #expect(
            faults("group: [{id: n, run: a, conditions: [\(deep)]}]").first?.contains("conditions are nested more than 16 deep here")
                == true)
    }

    @Test func conditionsForWorkers_areRead() throws {
        let text = """
            vars: {port: 80}
            group:
              - {run: a, conditions: [{reachable: "tcp://h:${port}", wait: true}, {command: test -e x, negated: true}]}
              - {forEach: [1], run: b, conditions: [{fileExists: "/data/${item}"}, {type: Disk, with: {bytes: "${item}"}}]}
            """
        let expected = #"""
            0 - group
            1 run0 shell {"run":"a","variables":{"port":"80"}} probe=reachable:0 wait not(probe=command:1)
            2 run1 forEach as=item [1]
            3 run1/* shell templated {"run":"b","variables":{"port":"80"}} in=2 probe=fileExists:3 templated probe=Disk:4 templated
            """#
        let loaded = try GraphFileLoader.load(text: text, file: "f.yaml")
        #expect(outline(loaded) == expected)
        #expect(
            loaded.graph.parameters.map { String(decoding: $0, as: UTF8.self) }.sorted() == [
                #"{"bytes":"${item}"}"#, #"{"path":"/data/${item}"}"#, #"{"run":"a","variables":{"port":"80"}}"#,
                #"{"run":"b","variables":{"port":"80"}}"#, #"{"run":"test -e x","variables":{"port":"80"}}"#, #"{"url":"tcp://h:80"}"#,
            ])
    }

    @Test func dependentOperations_standInTheirNode_andSilentConditionsHaveNone() throws {
        let text = """
            conditions: [{fileExists: /root, operation: {run: make root}}]
            group:
              - id: a
                run: a
                conditions:
                  - {noFailedDependencies: true}
                  - {fileExists: /data, operation: {ordered: [{run: one}, {run: two}], retry: 2}}
                  - {type: disk/free, operation: {op: noop}}
                  - {fileExists: /other, silent: true, operation: {run: never}}
              - {id: g, group: [{run: x}], conditions: [{command: test, operation: {run: y}}]}
              - {id: e, forEach: [1], run: b, conditions: [{fileExists: "/${item}", operation: {run: 'touch "$item"'}}]}
            """
        let outline = try outline(text).split(separator: "\n").map(String.init)
        let expected = [
            "?FileExists.0", "a", "a/?FileExists.1", "a/?FileExists.1/run0", "a/?FileExists.1/run1", "a/?disk-free.2", "g", "g/run0",
            "g/?Command.0", "e", "e/*", "e/*/?FileExists.0",
        ]
        #expect(Set(outline.dropFirst().map { String($0.split(separator: " ")[1]) }) == Set(expected))
        func line(_ path: String) -> String { outline.first { $0.split(separator: " ")[1] == path } ?? "" }
        #expect(line("?FileExists.0").contains("prepares=0"))
        #expect(line("a/?FileExists.1").contains("ordered") && line("a/?FileExists.1").contains("prepares=1"))
        #expect(line("a/?FileExists.1").contains("retry=2"))
        #expect(line("a/?FileExists.1/run0").contains("prepares") == false)
        #expect(line("a/?disk-free.2").contains("prepares=2"))
        #expect(line("e/*/?FileExists.0").contains("templated"))
    }

    @Test func dependentOperations_waitForNothing_andHaveNoNameOfTheirOwn() {
        func found(_ operation: String) -> [String] {
            faults(
                """
                group:
                  - {id: x, run: x}
                  - {id: n, run: a, conditions: [{fileExists: /a, operation: \(operation)}]}
                """)
        }
        for key in ["id: x2", "after: x", "receives: x"] {
            let name = key.prefix { $0 != ":" }
            let messages = found("{run: y, \(key)}")
            #expect(
                messages.contains { $0.contains(": n/?FileExists.0: `\(name)` is not for the `operation` of a condition") }, "\(messages)")
        }
        #expect(found("{group: [{run: y, after: x}]}").first?.contains("names a node outside of the `operation` of a condition") == true)
        #expect(found("{run: y, rub: z}").first?.contains(": n/?FileExists.0: unknown key `rub`") == true)
        #expect(found("[]").first?.contains("a node must be a map") == true)
    }

    @Test(arguments: [
        ("{}", "`conditions` must be a list such as `[{noFailedDependencies: true}]`, found a map"),
        ("[]", "`conditions` names no condition"),
        ("[a]", "a condition must be a map such as `{noFailedDependencies: true}`, found text `a`"),
        (
            "[{negated: true}]",
            "a condition needs one of `noFailedDependencies`, `noCancelledDependencies`, `timeWindow`, `rateLimit`, `reachable`, `fileExists`, "
                + "`command`, `type`, `any`, `all`"
        ),
        ("[{reachable: db}]", "`reachable` must be a URL such as `tcp://host:port` or `https://host`, found `db`"),
        (
            "[{fileExists: ready}]",
            "`fileExists` must be a path from the root such as `/data/ready`, found `ready`; a worker has no directory of the node's"
        ),
        ("[{command: ''}]", "`command` is empty"),
        ("[{type: command}]", "the condition `command` is written as `{command: …}`, not as a `type`"),
        ("[{type: Disk, with: 1}]", "`with` must be a map of parameters, found `1`"),
        ("[{type: Disk, wait: true}]", "`wait` belongs to `reachable`, `fileExists` and `command`, and this is `type`"),
        ("[{fileExists: /a, with: {}}]", "`with` belongs to `type`, and this is `fileExists`"),
        (
            "[{noFailedDependencies: true, timeWindow: '1:00-2:00'}]",
            "a condition has `noFailedDependencies` and `timeWindow`; write one condition for each"
        ),
        ("[{noFailedDependency: true}]", "unknown key `noFailedDependency` in a condition, did you mean `noFailedDependencies`?"),
        (
            "[{noFailedDependencies: false}]",
            "`noFailedDependencies` must be `true`, found `false`; the opposite has `negated: true` beside it"
        ),
        ("[{noFailedDependencies: true, negated: 1}]", "`negated` must be `true` or `false`, found `1`"),
        ("[{noFailedDependencies: true, zone: UTC}]", "`zone` belongs to `timeWindow`, and there is none in this condition"),
        ("[{timeWindow: 22-6}]", "`timeWindow`: bad time window `22-6`; write it as `22:00-06:00`"),
        (
            "[{timeWindow: '6:00-6:00'}]",
            "`timeWindow`: the time window `6:00-6:00` ends when it starts; leave it out, or give it another end"
        ),
        ("[{timeWindow: '6:00-25:00'}]", "`timeWindow`: bad time window `6:00-25:00`; write it as `22:00-06:00`"),
        ("[{timeWindow: '6:00-7:00', zone: Europe/Berln}]", "unknown time zone `Europe/Berln`, did you mean `Europe/Berlin`?"),
        ("[{rateLimit: api}]", "`rateLimit` must be a map such as `{key: api, count: 10, per: 1s}`, found text `api`"),
        ("[{rateLimit: {key: api, count: 10}}]", "`rateLimit` needs `per`, as in `{key: api, count: 10, per: 1s}`"),
        ("[{rateLimit: {key: api, count: 0, per: 1s}}]", "`count` must be a whole number from 1 to 100000, found `0`"),
        ("[{rateLimit: {key: api, count: 1, per: 1}}]", "`per`: `1` has no unit; write `1s` for seconds"),
        ("[{rateLimit: {key: api, count: 1, per: 0s}}]", "`per` must be longer than 0"),
        ("[{rateLimit: {key: api, cont: 1, count: 1, per: 1s}}]", "unknown key `cont` in `rateLimit`, did you mean `count`?"),
        (
            "[{rateLimit: {key: '${item}', count: 1, per: 1s}}]",
            "`key` of `rateLimit`: `${item}` cannot be used here; it must be the same for all elements of a forEach"
        ),
        (
            "[{operation: {run: x}}]",
            "a condition needs one of `noFailedDependencies`, `noCancelledDependencies`, `timeWindow`, `rateLimit`, `reachable`, `fileExists`, "
                + "`command`, `type`, `any`, `all`"
        ),
        ("[{fileExists: /a, silent: 1}]", "`silent` must be `true` or `false`, found `1`"),
    ])
    func mistakes_areNamed(value: String, message: String) {
        let found = faults("group: [{id: n, forEach: [1], run: a, conditions: \(value)}]")
        #expect(found.count == 1 && found.first?.hasSuffix(": n: \(message)") == true, "\(found)")
    }
}
