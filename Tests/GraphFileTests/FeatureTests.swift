import GraphFile
import Testing
import Wire

/// What each feature of the format becomes.
@Suite struct FeatureTests {
    @Test func wordCount_becomesTheGraphOfTheSpecification() throws {
        let text = try Project.text("examples/word-count.yaml")
        let expected = #"""
            0 - ordered stop
            1 files shell {"output":"lines","run":"find \"$dir\" -type f","variables":{"dir":"/usr/share/common-licenses"}}
            2 count forEach as=file max=8 receives=[1] forward
            3 count/* shell templated {"output":"json","run":"wc -w < \"$$file\"","variables":{"dir":"/usr/share/common-licenses"}} in=2
            4 total shell {"output":"json","run":"tr -c '0-9' '\\n' | awk '{s += $1} END {print s}'","variables":{"dir":"/usr/share/common-licenses"}} receives=[2] forward
            """#
        #expect(try outline(text) == expected)
        #expect(try GraphFileLoader.load(text: text, file: "other.yaml").name == "word-count")
    }

    @Test func jsonAndYAML_giveTheSameGraph() throws {
        let yaml = """
            name: pair
            group:
              - {id: a, run: "echo 1"}
              - id: b
                receives: [a]
                exec: [cat]
                env: {X: "1"}
            """
        let json = """
            {"name": "pair", "group": [
            \t{"id": "a", "run": "echo 1"},
            \t{"id":"b","receives":["a"],"exec":["cat"],"env":{"X":"1"}}
            ]}
            """
        let first = try GraphFileLoader.load(text: yaml, file: "a.yaml").graph
        #expect(try GraphFileLoader.load(text: json, file: "b.json").graph == first)
        #expect(try GraphFileLoader.load(text: json, file: "b.json").graph.serializedData() == first.serializedData())
    }

    @Test func commands_takeScalarsAsTheyAreWritten() throws {
        let text = """
            group:
              - exec: [printf, true, 0755, 1.10, null, ~, "", 'a b']
                env: {A: 0755, B: true, C: 1.10, D: , E: ~, F: "x y"}
                cwd: 0700
                stdin: 1e3
                output: bytes
                maxOutput: 2GiB
              - run: 'true'
                maxOutput: 1000
            """
        let expected = #"""
            0 - group
            1 exec0 shell {"environment":{"A":"0755","B":"true","C":"1.10","D":"","E":"~","F":"x y"},"exec":["printf","true","0755","1.10","null","~","","a b"],"maxOutput":2147483648,"output":"bytes","stdin":"1e3","workingDirectory":"0700"}
            2 run1 shell {"maxOutput":1000,"run":"true"}
            """#
        #expect(try outline(text) == expected)
    }

    @Test func operations_takeParametersWithTheirTypes() throws {
        let text = """
            group:
              - op: Resize
                with: {width: 10, ratio: 1.10, big: 12345678901234567890, on: true, off: null, code: 0755, say: yes, day: 2024-01-01, list: [1, {b: 2, a: 1}], text: "5"}
              - op: Plain
              - {id: w, op: delay, with: {seconds: 1.5}}
              - {op: http, with: {url: "http://h/", method: POST, headers: {Accept: "*/*"}, body: 5}}
              - {op: readFile, with: {path: /etc/hosts}}
              - {op: writeFile, with: {path: out}, receives: w}
              - {op: noop}
              - {op: noop, with: {}}
              - {op: download, with: {url: "http://h/", to: f, headers: {Accept: "*/*"}}}
              - {op: upload, with: {url: "http://h/", from: f, method: PUT}}
              - {op: jsonDecode, receives: w}
              - {op: jsonPath, receives: w, with: {path: "$.a['b c'][0]"}}
            """
        let expected = #"""
            0 - group
            1 op0 Resize {"big":12345678901234567890,"code":"0755","day":"2024-01-01","list":[1,{"a":1,"b":2}],"off":null,"on":true,"ratio":1.10,"say":"yes","text":"5","width":10}
            2 op1 Plain {}
            3 w delay {"seconds":1.5}
            4 op3 http {"body":"5","headers":{"Accept":"*/*"},"method":"POST","url":"http://h/"}
            5 op4 readFile {"path":"/etc/hosts"}
            6 op5 writeFile {"path":"out"} receives=[3]
            7 op6 noop {}
            8 op7 noop {}
            9 op8 download {"headers":{"Accept":"*/*"},"to":"f","url":"http://h/"}
            10 op9 upload {"from":"f","method":"PUT","url":"http://h/"}
            11 op10 jsonDecode {} receives=[3]
            12 op11 jsonPath {"path":"$.a['b c'][0]"} receives=[3]
            """#
        #expect(try outline(text) == expected)
    }

    @Test func parameters_areKeptOnce() throws {
        let nodes = (0..<100).map { "  - {exec: [echo, \($0 % 3)]}" }.joined(separator: "\n")
        let graph = try GraphFileLoader.load(text: "group:\n" + nodes, file: "f").graph
        #expect(graph.nodes.count == 101)
        #expect(graph.parameters.count == 3)
    }

    @Test func groups_haveTheirDefaults() throws {
        let text = """
            ordered:
              - group: []
              - group: [{run: a}]
                onFailure: stop
                maxConcurrent: 3
              - ordered: [{run: a}]
              - id: last
                ordered: [{run: a}]
                onFailure: continue
                retry: 2
                timeout: 1h
                grace: 0s
            onFailure: continue
            timeout: 1d
            """
        let expected = #"""
            0 - ordered timeout=86400000
            1 group0 group
            2 group1 group stop max=3
            3 group1/run0 shell {"run":"a"} in=2
            4 ordered2 ordered stop
            5 ordered2/run0 shell {"run":"a"} in=4
            6 last ordered retry=2 timeout=3600000 grace=0
            7 last/run0 shell {"run":"a"} in=6
            """#
        #expect(try outline(text) == expected)
    }

    @Test func times_areOfTheNodeOrOfEachElement() throws {
        let text = """
            group:
              - {run: a, delay: 1m30s, notBefore: 2026-11-21T22:00:00Z}
              - {run: a, notBefore: "2026-11-21T23:00:00.25+01:00"}
              - {group: [], delay: 0s}
              - {forEach: [1], run: a, delay: 1s, queueTimeout: 5m}
              - {run: a, deadline: 1h}
              - {ordered: [], deadline: 2026-11-21T22:00:00Z}
            delay: 2s
            notBefore: 2000-02-29 00:00:00-00:30
            """
        let expected = #"""
            0 - group delay=2000 notBefore=951784200000
            1 run0 shell {"run":"a"} delay=90000 notBefore=1795298400000
            2 run1 shell {"run":"a"} notBefore=1795298400250
            3 group2 group
            4 run3 forEach as=item [1]
            5 run3/* shell templated {"run":"a"} in=4 delay=1000 queueTimeout=300000
            6 run4 shell {"run":"a"} deadline=3600000
            7 ordered5 ordered stop deadline=@1795298400000
            """#
        #expect(try outline(text) == expected)
    }

    @Test func references_findSiblingsThenOuterNodesThenPaths() throws {
        let text = """
            group:
              - {id: a, run: x}
              - id: outer
                group:
                  - {id: b, run: x}
                  - id: inner
                    group:
                      - {id: a, run: x}
                      - {id: near, receives: a, run: x}
                      - {id: far, receives: b, run: x}
                      - {id: path, receives: outer/inner/near, run: x}
              - {id: c, receives: [outer, outer/inner/near, a], run: x}
              - {id: d, after: [outer/b, c], run: x}
            """
        let expected = #"""
            0 - group
            1 a shell {"run":"x"}
            2 outer group
            3 outer/b shell {"run":"x"} in=2
            4 outer/inner group in=2
            5 outer/inner/a shell {"run":"x"} in=4
            6 outer/inner/near shell {"run":"x"} in=4 receives=[5] forward
            7 outer/inner/far shell {"run":"x"} in=4 receives=[3] forward
            8 outer/inner/path shell {"run":"x"} in=4 receives=[6] forward
            9 c shell {"run":"x"} receives=[2, 6, 1] array forward
            10 d shell {"run":"x"} after=[3, 9]
            """#
        #expect(try outline(text) == expected)
    }

    @Test func receives_distinguishesOneFromAListOfOne() throws {
        let text = """
            group:
              - {id: a, run: x}
              - {id: one, receives: a, run: x}
              - {id: list, receives: [a], run: x}
              - {id: op, receives: a, after: [a, one], op: Own}
              - {id: forwarding, receives: a, op: Own, whenReceivedFails: forward}
              - {id: running, receives: a, run: x, whenReceivedFails: run, stdin: instead}
            """
        let expected = #"""
            0 - group
            1 a shell {"run":"x"}
            2 one shell {"run":"x"} receives=[1] forward
            3 list shell {"run":"x"} receives=[1] array forward
            4 op Own {} receives=[1] after=[2]
            5 forwarding Own {} receives=[1] forward
            6 running shell {"run":"x","stdin":"instead"} receives=[1]
            """#
        #expect(try outline(text) == expected)
    }

    @Test func forEach_splitsKeysBetweenItselfAndItsBody() throws {
        let text = """
            group:
              - {id: list, run: x, output: lines}
              - {id: extra, run: x}
              - id: each
                forEach: list
                after: extra
                receives: extra
                retry: 2
                timeout: 5s
                grace: 1s
                maxConcurrent: 4
                onFailure: stop
                exec: [echo, "${item}", "${item.name}", "${index}", $$5, $x]
              - id: steps
                forEach: [1, "1", {k: v}, [2], null]
                as: e
                ordered:
                  - {id: first, run: 'echo "$e_k"'}
                  - {receives: first, op: Own, with: {from: "${e.k.deeper}", plain: 5}}
                maxConcurrent: 1
              - {receives: each, run: y}
            """
        let expected = #"""
            0 - group
            1 list shell {"output":"lines","run":"x"}
            2 extra shell {"run":"x"}
            3 each forEach as=item stop max=4 receives=[1] after=[2] forward
            4 each/* shell templated {"exec":["echo","${item}","${item.name}","${index}","$$5","$$x"]} in=3 receives=[2] retry=2 timeout=5000 grace=1000 forward
            5 steps forEach as=e [1,"1",{"k":"v"},[2],null] max=1
            6 steps/* ordered stop in=5
            7 steps/*/first shell templated {"run":"echo \"$$e_k\""} in=6
            8 steps/*/op1 Own templated {"from":"${e.k.deeper}","plain":5} in=6 receives=[7]
            9 run4 shell {"run":"y"} receives=[3] forward
            """#
        #expect(try outline(text) == expected)
    }

    @Test func forEach_inForEach_seesAllNames() throws {
        let text = """
            vars: {item: outermost, base: $HOME}
            group:
              - id: a
                forEach: [1]
                as: x
                group:
                  - id: b
                    forEach: []
                    exec: ["${x}", "${item}", "${base}", "${index}"]
                    env: {SELF: "${base}/$$"}
                  - {run: 'echo $item'}
              - forEach: ["${base}/1", $2]
                op: noop
            """
        let expected = #"""
            0 - group
            1 a forEach as=x [1]
            2 a/* group in=1
            3 a/*/b forEach as=item [] in=2
            4 a/*/b/* shell templated {"environment":{"SELF":"$$HOME/$$"},"exec":["${x}","${item}","$$HOME","${index}"]} in=3
            5 a/*/run1 shell templated {"run":"echo $$item","variables":{"base":"$$HOME","item":"outermost"}} in=2
            6 op1 forEach as=item ["$HOME/1","$2"]
            7 op1/* noop templated {} in=6
            """#
        #expect(try outline(text) == expected)
    }

    @Test func aliases_standForTheValuesTheyName() throws {
        let text = """
            vars: {shared: &env {A: 1}}
            group:
              - &step {run: x, env: &both {A: "1"}}
              - *step
              - {exec: [y], env: *both}
              - {op: Own, with: *env}
            """
        let expected = #"""
            0 - group
            1 run0 shell {"environment":{"A":"1"},"run":"x","variables":{"shared":"{\"A\":1}","shared_A":"1"}}
            2 run1 shell {"environment":{"A":"1"},"run":"x","variables":{"shared":"{\"A\":1}","shared_A":"1"}}
            3 exec2 shell {"environment":{"A":"1"},"exec":["y"]}
            4 op3 Own {"A":1}
            """#
        #expect(try outline(text) == expected)
    }

    @Test(arguments: [
        ("dir/word-count.yaml", "word-count"), ("a.yml", "a"), ("a.b.json", "a.b"), ("plain", "plain"), (".yaml", ".yaml"),
        ("<stdin>", "stdin"),
    ])
    func name_isTheFilesWithoutOne(file: String, name: String) throws {
        #expect(try GraphFileLoader.load(text: "group: []", file: file).name == name)
        #expect(try GraphFileLoader.load(text: "{name: own, group: []}", file: file).name == "own")
        #expect(try GraphFileLoader.load(text: "{name: own, group: []}", file: file, options: .init(name: "given")).name == "given")
    }

    @Test func nodes_haveKindTypeAndPlace() throws {
        let loaded = try GraphFileLoader.load(text: "group:\n  - run: a\n  - id: e\n    forEach: [1]\n    op: Own\n", file: "f.yaml")
        #expect(loaded.nodes.map(\.path) == ["", "run0", "e", "e/*"])
        #expect(loaded.nodes.map(\.kind) == [.group, .operation, .forEach, .operation])
        #expect(loaded.nodes.map(\.type) == ["", "shell", "", "Own"])
        #expect(loaded.nodes.map(\.position.description) == ["1:1", "2:5", "3:5", "3:5"])
        let error = loaded.error(atNode: 3, path: "e/*", message: "unknown operation `Own`")
        #expect(error.description == "f.yaml:3:5: e/*: unknown operation `Own`")
    }

    @Test(arguments: [
        ("90s", 90_000), ("1h30m", 5_400_000), ("500ms", 500), ("1.5s", 1500), ("1d2h3m4s5ms", 93_784_005), ("0.001s", 1),
        ("1m1.25s", 61_250),
        ("49d", 4_233_600_000),
    ])
    func durations_areExact(text: String, milliseconds: Int) throws {
        let graph = try GraphFileLoader.load(text: "{group: [], timeout: \(text)}", file: "f").graph
        #expect(graph.nodes[0].timeoutMilliseconds == UInt64(milliseconds))
    }

    @Test(arguments: [
        ("1", 1), ("64MiB", 67_108_864), ("1.5KiB", 1536), ("3B", 3), ("10kB", 10_000), ("2TiB", 2_199_023_255_552), ("1MB", 1_000_000),
    ])
    func sizes_areExact(text: String, bytes: Int) throws {
        #expect(try outline("{group: [{run: a, maxOutput: \(text)}]}").contains("{\"maxOutput\":\(bytes),\"run\":\"a\"}"))
    }
}
