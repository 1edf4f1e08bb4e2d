import GraphFile
import Testing

/// Each error with its exact text and place.
@Suite struct ErrorTests {
    @Test func manyErrors_areReportedAtOnceInTheOrderOfTheFile() {
        let text = """
            naem: x
            group:
              - id: a
                runn: ls
              - id: a
                run: ls
                retrie: 3
                timeout: 90
              - id: b
                after: c
                run: [ls]
              - id: c
                receives: [b, filse]
                exec: ls -l
              - plain
            """
        #expect(
            faults(text) == [
                "1:1: unknown key `naem`, did you mean `name`?",
                "3:5: a: a node needs one of `run`, `exec`, `op`, `group`, `ordered`",
                "4:5: a: unknown key `runn`, did you mean `run`?",
                "5:9: a: duplicate id `a` (first at 3:5)",
                "7:5: a: unknown key `retrie`, did you mean `retry`?",
                "8:14: a: `timeout`: `90` has no unit; write `90s` for seconds",
                "10:12: b: cycle: b → c → b",
                "11:10: b: `run` must be text, found a list",
                "13:19: c: unknown reference `filse`; it must name a sibling, a node of an enclosing group, or a path such as `outer/inner`",
                "14:11: c: `exec` must be a list such as `[wc, -l]`, found text `ls -l`; a command line is a `run`",
                "15:5: a node must be a map such as `{run: ls}`, found text `plain`",
            ])
    }

    @Test(arguments: [
        // Keys.
        ("{run: a, exlusive: 1}", "11: n: unknown key `exlusive`, did you mean `exclusive`?"),
        ("{run: a, FOREACH: 1}", "11: n: unknown key `FOREACH`, did you mean `forEach`?"),
        ("{run: a, something: 1}", "11: n: unknown key `something`"),
        ("{run: a, <<: {}}", "11: n: merge keys (`<<`) are not supported; an alias can stand for a whole value"),
        ("{run: a, [x]: 1}", "11: n: a key must be text, found a list"),
        ("{run: a, retry: 1, retry: 2}", "21: n: duplicate key `retry` (first at 2:11)"),
        ("{run: a, vars: {}}", "11: n: `vars` belongs to the top level of the file"),
        ("{run: a, name: x}", "11: n: `name` belongs to the top level of the file"),
        ("{run: a, timeout: }", "20: n: `timeout` has no value"),
        ("{run: a, as: x}", "11: n: `as` names the element of a `forEach`, and there is none here"),
        ("{op: Own, env: {}}", "12: n: `env` is for commands (`run`, `exec`), not for `op`"),
        ("{group: [], stdin: x}", "14: n: `stdin` is for commands (`run`, `exec`), not for `group`"),
        ("{run: a, with: {}}", "11: n: `with` holds the parameters of an `op`, not of `run`"),
        ("{exec: [a], maxConcurrent: 1}", "14: n: `maxConcurrent` is for groups and `forEach`, not for `exec`"),
        ("{op: Own, onFailure: stop}", "12: n: `onFailure` is for groups and `forEach`, not for `op`"),
        (
            "{group: [], receives: a}",
            "14: n: `receives` is for commands and operations; give it to the member that needs the value, or use `after`"
        ),
        ("{run: a, whenReceivedFails: run}", "11: n: `whenReceivedFails` needs `receives`"),
        // Forms.
        ("{retry: 1}", "2: n: a node needs one of `run`, `exec`, `op`, `group`, `ordered`"),
        ("{run: a, op: b}", "11: n: has `run` and `op`; exactly one says what a node is"),
        ("{group: {}}", "10: n: `group` must be a list of nodes, found a map"),
        ("{ordered: a}", "12: n: `ordered` must be a list of nodes, found text `a`"),
        // Commands.
        ("{run: ''}", "8: n: `run` is empty"),
        (#"{run: "a\0"}"#, "8: n: `run` contains a NUL character, which no command can be given"),
        ("{exec: []}", "9: n: `exec` must begin with a program, found an empty list"),
        ("{exec: ['']}", "10: n: `exec` must begin with a program, found empty text"),
        ("{exec: [a, [b]]}", "13: n: an argument of `exec` must be text, found a list"),
        ("{exec: {a: b}}", "9: n: `exec` must be a list such as `[wc, -l]`, found a map"),
        (#"{exec: [a, "\0"]}"#, "13: n: an argument of `exec` contains a NUL character, which no command can be given"),
        ("{run: a, env: [A]}", "16: n: `env` must be a map of names and values, found a list"),
        ("{run: a, env: {A: [1]}}", "20: n: `A` in `env` must be text, found a list"),
        ("{run: a, env: {A=B: 1}}", "17: n: `env`: `A=B` cannot name an environment variable"),
        (
            "{run: a, env: {A: {secret: k/../p}}}",
            "29: n: `k/../p` cannot name a secret; use letters, digits, `_`, `-` and `.`, not `.` first"
        ),
        ("{op: Own, with: {a: [{secret: [K]}]}}", "32: n: `secret` must be text, found a list"),
        ("{run: {secret: K}}", "8: n: `run` cannot be a secret; `{secret: NAME}` is a value in `env` and `with`, and of `stdin`"),
        ("{run: a, cwd: [b]}", "16: n: `cwd` must be text, found a list"),
        ("{run: a, stdin: {b: c}}", "18: n: `stdin` must be text, found a map"),
        ("{run: a, output: jsn}", "19: n: `output` must be `text`, `lines`, `json`, `bytes` or `none`, found `jsn`, did you mean `json`?"),
        ("{run: a, output: []}", "19: n: `output` must be `text`, `lines`, `json`, `bytes` or `none`, found a list"),
        // Sizes and durations.
        ("{run: a, maxOutput: 64mb}", "22: n: `maxOutput`: bad size `64mb`; write it as `64MiB`, `2GiB` or `1000` (bytes)"),
        ("{run: a, maxOutput: -1}", "22: n: `maxOutput`: bad size `-1`; write it as `64MiB`, `2GiB` or `1000` (bytes)"),
        ("{run: a, maxOutput: 0}", "22: n: `maxOutput`: must be at least 1 byte; for no output write `output: none`"),
        ("{run: a, maxOutput: 0.3B}", "22: n: `maxOutput`: `0.3B` is not a whole number of bytes"),
        ("{run: a, maxOutput: 2000TiB}", "22: n: `maxOutput`: `2000TiB` is larger than 1 PiB, the largest possible"),
        ("{run: a, maxOutput: 999999999TiB}", "22: n: `maxOutput`: `999999999TiB` is larger than 1 PiB, the largest possible"),
        ("{run: a, maxOutput: [1]}", "22: n: `maxOutput` must be a size such as `64MiB`, found a list"),
        ("{run: a, timeout: 0s}", "20: n: `timeout` must be longer than 0"),
        ("{run: a, timeout: {s: 1}}", "20: n: `timeout` must be a duration such as `90s`, found a map"),
        ("{run: a, timeout: 1.5}", "20: n: `timeout`: `1.5` has no unit; write `1.5s` for seconds"),
        ("{run: a, timeout: 90sec}", "20: n: `timeout`: bad duration `90sec`; write it as `90s`, `1h30m`, `500ms` or `1.5s`"),
        ("{run: a, timeout: 1m1h}", "20: n: `timeout`: bad duration `1m1h`; write it as `90s`, `1h30m`, `500ms` or `1.5s`"),
        ("{run: a, timeout: 1.5h1m}", "20: n: `timeout`: bad duration `1.5h1m`; write it as `90s`, `1h30m`, `500ms` or `1.5s`"),
        ("{run: a, timeout: 1.s}", "20: n: `timeout`: bad duration `1.s`; write it as `90s`, `1h30m`, `500ms` or `1.5s`"),
        ("{run: a, timeout: '90 s'}", "20: n: `timeout`: bad duration `90 s`; write it as `90s`, `1h30m`, `500ms` or `1.5s`"),
        ("{run: a, grace: 1.5ms}", "18: n: `grace`: `1.5ms` is finer than a millisecond"),
        ("{run: a, grace: 50d}", "18: n: `grace`: `50d` is longer than 49 days, the longest possible"),
        ("{run: a, grace: 999999999999d}", "18: n: `grace`: `999999999999d` is longer than 49 days, the longest possible"),
        // Times.
        (
            "{run: a, notBefore: tomorrow}",
            "22: n: `notBefore`: bad time `tomorrow`; write it as `2026-11-21T22:00:00Z` or with an offset, `…T23:00:00+01:00`"
        ),
        (
            "{run: a, notBefore: 2026-11-21}",
            "22: n: `notBefore`: bad time `2026-11-21`; write it as `2026-11-21T22:00:00Z` or with an offset, `…T23:00:00+01:00`"
        ),
        ("{run: a, notBefore: 2026-02-29T00:00:00Z}", "22: n: `notBefore`: `2026-02-29T00:00:00Z` is no time there is"),
        ("{run: a, notBefore: 1960-01-01T00:00:00Z}", "22: n: `notBefore`: `1960-01-01T00:00:00Z` is before 1970"),
        ("{run: a, notBefore: [x]}", "22: n: `notBefore` must be a time such as `2026-11-21T22:00:00Z`, found a list"),
        ("{run: a, delay: 5}", "18: n: `delay`: `5` has no unit; write `5s` for seconds"),
        // Counts.
        ("{run: a, retry: -1}", "18: n: `retry` must be from 0 to 1000000, found `-1`"),
        ("{run: a, retry: 99999999999999999999}", "18: n: `retry` must be from 0 to 1000000, found `99999999999999999999`"),
        ("{run: a, retry: 1.5}", "18: n: `retry` must be a whole number, found `1.5`"),
        ("{run: a, retry: '3'}", "18: n: `retry` must be a whole number, found text `3`"),
        ("{run: a, retry: true}", "18: n: `retry` must be a whole number, found `true`"),
        (
            "{run: a, retry: {attempts: -3}}",
            "29: n: `attempts` must be from 0 to 1000000, found `-3`"
        ),
        ("{group: [], maxConcurrent: 0}", "29: n: `maxConcurrent` must be at least 1; leave it out for no limit"),
        ("{group: [], onFailure: halt}", "25: n: `onFailure` must be `continue` or `stop`, found `halt`"),
        // Ids and references.
        ("{run: a, receives: n}", "21: n: `receives: n` names the node itself"),
        ("{run: a, receives: []}", "21: n: `receives` names no node"),
        ("{run: a, receives: {x: y}}", "21: n: `receives` must be the id of a node or a list of ids, found a map"),
        ("{run: a, after: [[x]]}", "19: n: `after` must be a list of ids, found a list in it"),
        ("{run: a, after: [m, m]}", "22: n: `after` names `m` twice"),
        ("{run: a, after: mm}", "18: n: unknown reference `mm`, did you mean `m`?"),
        ("{run: a, after: m/x}", "18: n: unknown reference `m/x`: `m` is not a group"),
        ("{run: a, after: g/imner}", "18: n: unknown reference `g/imner`: group `g` has no member `imner`, did you mean `inner`?"),
        ("{run: a, after: e/inner}", "18: n: `e/inner` is inside forEach `e`, where each element has its own; refer to `e`"),
        ("{run: a, after: r/inner}", "18: n: `after: r/inner` names a node inside `r`, which may begin anew (`retry`); refer to `r`"),
        (
            "{run: a, receives: m, stdin: x}",
            "24: n: `stdin` is never used: the value of `receives` is the command's stdin (with `whenReceivedFails: run`, `stdin` stands in for a failed one)"
        ),
        ("{run: a, receives: m, whenReceivedFails: stop}", "43: n: `whenReceivedFails` must be `forward` or `run`, found `stop`"),
        // forEach.
        ("{run: a, forEach: {a: b}}", "20: n: `forEach` must be the id of a node or a list, found a map"),
        ("{run: a, forEach: mm}", "20: n: unknown reference `mm`, did you mean `m`?"),
        ("{run: a, forEach: n}", "20: n: `forEach: n` names the node itself"),
        (
            "{run: a, forEach: [{secret: x}]}",
            "21: n: a variable or an element cannot be a secret; name it where it is used, in `env`, `with` or `stdin`"
        ),
        // Built-in operations.
        ("{op: shell}", "7: n: a command is written as `run:` or `exec:`, not as `op: shell`"),
        ("{op: download, with: {url: 'http://h'}}", "23: n: `download` needs the parameter `to` in `with`"),
        (
            "{op: download, with: {url: 'http://h', to: t, form: x}}",
            "48: n: unknown parameter `form` of `download`; it takes `url`, `to`, `headers`"
        ),
        ("{op: upload, with: {url: 'http://h', form: f, from: g}}", "39: n: unknown parameter `form` of `upload`, did you mean `from`?"),
        ("{op: jsonDecode}", "2: n: `jsonDecode` decodes the value it receives, and there is no `receives`"),
        ("{op: jsonDecode, receives: m, with: {path: x}}", "39: n: unknown parameter `path` of `jsonDecode`; it takes none"),
        ("{op: jsonPath, with: {path: $.a}}", "2: n: `jsonPath` selects from the value it receives, and there is no `receives`"),
        ("{op: jsonPath, receives: m}", "7: n: `jsonPath` needs the parameter `path` in `with`"),
        (
            "{op: jsonPath, receives: m, with: {path: a.b}}",
            "43: n: `path` of `jsonPath`: `a.b` is no path: a path begins with `$` (at character 1)"
        ),
        (
            "{op: jsonPath, receives: m, with: {path: '$.a[${v}'}}",
            "43: n: `path` of `jsonPath`: `$.a[1` is no path: `]` or `,` was expected, and the path ends (at character 6)"
        ),
        ("{op: [x]}", "7: n: `op` must be text, found a list"),
        ("{op: Own, with: [x]}", "18: n: `with` must be a map of parameters, found a list"),
        ("{op: delay}", "7: n: `delay` needs the parameter `seconds` in `with`"),
        ("{op: delay, with: {second: 1, seconds: 1}}", "21: n: unknown parameter `second` of `delay`, did you mean `seconds`?"),
        ("{op: noop, with: {second: 1}}", "20: n: unknown parameter `second` of `noop`; it takes none"),
        (
            "{op: http, with: {url: 'http://h', query: 1}}",
            "37: n: unknown parameter `query` of `http`; it takes `url`, `method`, `headers`, `body`"
        ),
        ("{op: http, with: {url: 'http://h', headers: x}}", "46: n: `headers` of `http` must be a map of texts, found text `x`"),
        ("{op: http, with: {url: ~}}", "25: n: `url` of `http` has no value"),
        (
            "{op: http, with: {url: nonsense}}",
            "25: n: `url` of `http`: `nonsense` is no URL of HTTP: it must begin with http:// or https:// and name a host"
        ),
        (
            "{op: download, with: {url: 'ftp://${v}', to: t}}",
            "29: n: `url` of `download`: `ftp://1` is no URL of HTTP: it must begin with http:// or https:// and name a host"
        ),
        (
            "{op: http, with: {url: 'http://h:99999'}}",
            "25: n: `url` of `http`: `http://h:99999` is no URL of HTTP: its port is 99999, and ports are from 1 to 65535"
        ),
        (
            "{op: http, with: {url: 'http://h', method: 'a b'}}",
            "45: n: `method` of `http`: `a b` is no method of HTTP; write a word, e.g. PUT"
        ),
        (
            "{op: http, with: {url: 'http://h', headers: {'a b': c}}}",
            "47: n: `headers` of `http`: `a b` is no name of a header: it must be of letters, digits and dashes"
        ),
        (
            "{op: http, with: {url: 'http://h', headers: {Content-Length: 5}}}",
            "47: n: `headers` of `http`: `Content-Length` is set by the worker, from what it sends; leave it out"
        ),
        (
            "{op: http, with: {url: 'http://h', headers: {X: \"a\\r\\nb\"}}}",
            "50: n: `X` in `headers` of `http` has a line break or another control character in it; take it out"
        ),
        (
            "{op: http, with: {url: 'HTTP://h', method: get, body: b}}",
            "19: n: `http` sends `body`, and its `method` is `get`, which sends nothing"
        ),
        (
            "{op: upload, with: {url: 'http://h', from: f, method: HEAD}}",
            "21: n: `upload` sends a file, and its `method` is `HEAD`, which sends nothing"
        ),
        ("{op: delay, with: {seconds: 1e300}}", "30: n: `seconds` of `delay` is 1e300, and may be up to 1000000000"),
        ("{op: http, with: {url: [u]}}", "25: n: `url` of `http` must be text, found a list"),
        ("{op: readFile, with: {path: ''}}", "30: n: `path` of `readFile` is empty"),
        ("{op: delay, with: {seconds: -1}}", "30: n: `seconds` of `delay` must be a number from 0 on, found `-1`"),
        ("{op: delay, with: {seconds: 90s}}", "30: n: `seconds` of `delay` must be a number from 0 on, found text `90s`"),
        ("{op: delay, with: {seconds: '${v}s'}}", "30: n: `seconds` of `delay` must be a number from 0 on, found `1s`"),
        ("{op: writeFile, with: {path: p}}", "2: n: `writeFile` writes the value it receives, and there is no `receives`"),
    ])
    func mistakeInANode_isNamedWithItsPlace(node: String, expected: String) {
        // The node under test begins line 2, and its id is on line 3: its columns are one more than in `node`.
        let text = """
            group: [
            \(" " + node.dropLast()),
            id: n}, {id: m, run: x}, {id: g, group: [{id: inner, run: x}]}, {id: e, forEach: [1], group: [{id: inner, run: x}]}, {id: r, retry: 1, group: [{id: inner, run: x}]}]
            vars: {v: 1}
            """
        #expect(faults(text) == ["2:" + expected])
    }

    @Test(arguments: [
        ("[]", "1:1: the top level must be a map with `group:` or `ordered:`, found a list"),
        ("text", "1:1: the top level must be a map with `group:` or `ordered:`, found text `text`"),
        ("~", "1:1: the top level must be a map with `group:` or `ordered:`, found nothing"),
        ("name: x", "1:1: the top level needs `group:` or `ordered:` with the list of nodes"),
        ("run: x", "1:1: the top level is a `group:` or `ordered:`; put this `run` into its list"),
        ("{group: [], ordered: []}", "1:13: has `group` and `ordered`; exactly one says what a node is"),
        ("{group: [], id: x}", "1:13: `id`: the root group has no id; `name` names the graph"),
        ("{group: [], after: x}", "1:13: `after`: the root group waits for nothing"),
        ("{group: [], forEach: [1]}", "1:13: `forEach`: the root group cannot be a forEach; put a node with `forEach` into it"),
        ("{group: [], env: {}}", "1:13: `env` is for commands (`run`, `exec`), not for `group`"),
        ("{group: [], vars: [a]}", "1:19: `vars` must be a map of names and values, found a list"),
        (
            "{group: [], vars: {a: {secret: x}}}",
            "1:23: a variable or an element cannot be a secret; name it where it is used, in `env`, `with` or `stdin`"
        ),
        ("{group: [], name: ''}", "1:19: `name` is empty"),
        ("{group: [], name: [a]}", "1:19: `name` must be text, found a list"),
        ("{group: [], name: \"a\\nb\"}", "1:19: `name` must be one line of at most 255 bytes"),
        ("group:", "1:7: `group` has no value"),
    ])
    func mistakeAtTheTopLevel_isNamedWithItsPlace(text: String, expected: String) {
        #expect(faults(text).contains(expected), "\(faults(text))")
    }

    @Test(arguments: [
        ("a/b", "id `a/b` must not contain `/`, which separates the parts of a path"),
        ("'a b'", "id `a b` must not contain white space"),
        ("+1", "id `+1` must not begin with `+`, which marks nodes that are made while the graph runs"),
        ("'*'", "id `*` must not begin with `*`, which marks nodes that are made while the graph runs"),
        ("..", "id `..` must be a name"),
        ("[a]", "`id` must be text, found a list"),
        ("''", "`id` is empty"),
    ])
    func unusableId_isNamed(id: String, message: String) {
        #expect(faults("group: [{id: \(id), run: x}]") == ["1:14: run0: \(message)"])
    }

    @Test func duplicateIds_referencesMeanTheFirst() {
        let text = """
            group:
              - {id: a, run: x, after: b}
              - {id: b, run: x, after: a}
              - {id: b, run: x}
              - {id: run5, run: x}
              - {id: c, run: x}
              - {run: x}
            """
        #expect(
            faults(text) == [
                "2:28: a: cycle: a → b → a",
                "4:10: b: duplicate id `b` (first at 3:5)",
                "7:5: run5: duplicate id `run5` (first at 5:5), which is this node's default name; give it an `id`",
            ])
    }

    @Test func waitingForWhatIsAroundOrInside_isAnError() {
        let text = """
            group:
              - id: g
                after: g/x
                group:
                  - {id: x, run: a}
                  - {id: y, run: a, receives: g}
              - id: e
                forEach: [1]
                group: [{id: z, run: a, after: e}]
            """
        #expect(
            faults(text) == [
                "3:12: g: `after: g/x` names a node inside this one, which starts only after it",
                "6:35: g/y: `receives: g` names a group the node is in; its end waits for the node's",
                "9:36: e/*/z: `after: e` names a group the node is in; its end waits for the node's",
            ])
    }

    @Test func cycles_areFoundThroughGroupsOrderAndForEach() {
        #expect(faults("group: [{id: b, run: x, after: c}, {id: c, run: x, receives: b}]") == ["1:32: b: cycle: b → c → b"])
        #expect(
            faults("ordered: [{id: a, run: x, after: z}, {id: z, run: x}]") == [
                "1:34: a: cycle: a → z → a (members of an `ordered:` group run one after another)"
            ])
        let membership = """
            group:
              - {id: g, group: [{id: x, run: a, after: y}]}
              - {id: y, run: b, after: g}
            """
        #expect(faults(membership) == ["2:44: g/x: cycle: g/x → g → y → g/x"])
        let start = """
            group:
              - {id: g, after: h/y, group: [{id: x, run: a}]}
              - {id: h, group: [{id: y, run: a, after: g/x}]}
            """
        #expect(faults(start) == ["2:20: g: cycle: g → g/x → h/y → g"])
        let each = """
            group:
              - {id: list, run: a, after: each}
              - {id: each, forEach: list, run: b}
            """
        #expect(faults(each) == ["2:31: list: cycle: list → each → list"])
        let body = "group: [{id: e, forEach: [1], run: b, receives: l}, {id: l, run: x, after: e}]"
        #expect(faults(body) == ["1:49: e: cycle: e → l → e"])
    }

    @Test func separateCycles_areAllReported() {
        let text = """
            group:
              - {id: a, run: x, after: b}
              - {id: b, run: x, after: a}
              - {id: c, run: x, after: d}
              - {id: d, run: x, after: e}
              - {id: e, run: x, after: [c, a]}
            """
        #expect(faults(text) == ["2:28: a: cycle: a → b → a", "4:28: c: cycle: c → e → d → c"])
    }

    @Test func longCycles_areShownWithoutTheirMiddle() {
        let nodes = (0..<1000).map { "  - {id: n\($0), run: x, after: n\(($0 + 1) % 1000)}" }
        #expect(
            faults("group:\n" + nodes.joined(separator: "\n")) == [
                "2:29: n0: cycle: n0 → n999 → n998 → n997 → n996 → n995 → … (991 more) … → n3 → n2 → n1 → n0"
            ])
    }

    @Test func orderedGroups_mayWaitForEarlierMembersAndOtherGroups() {
        let text = """
            ordered:
              - {id: a, run: x}
              - {id: b, run: x, receives: a}
              - {id: g, group: [{run: x, after: [a, b]}]}
            """
        #expect(faults(text) == ["none: 5 nodes"])
    }

    @Test func errorText_leavesOutWhatThereIsNot() {
        let position = GraphFilePosition(line: 3, column: 5)
        #expect(GraphFileError(file: "f", position: position, path: "a/b", message: "m").description == "f:3:5: a/b: m")
        #expect(GraphFileError(file: "f", position: position, message: "m").description == "f:3:5: m")
        #expect(GraphFileError(file: "f", position: nil, message: "m").description == "f: m")
    }

    @Test func errors_carryTheOperationsTheFileNames_forTheCoordinatorToCheck() {
        let text = """
            group:
              - id: a
                op: Rare
                retrie: 1
              - id: g
                group:
                  - op: noop
            """
        do throws(GraphFileErrors) {
            _ = try GraphFileLoader.load(text: text, file: "graph.yaml")
            Issue.record("the file has an error")
        } catch {
            #expect(error.operations.map(\.type) == ["Rare", "noop"])
            #expect(error.operations.map(\.path) == ["a", "g/op0"])
            #expect(error.operations.first?.error("unknown").description == "graph.yaml:3:9: a: unknown")
        }
    }
}
