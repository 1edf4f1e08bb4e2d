import GraphFile
import Testing

/// `vars`, `--set`, and where they appear.
@Suite struct VariableTests {
    private static let file = """
        vars:
          dir: /usr
          mode: 0755
          version: 1.10
          count: 3
          on: true
          empty:
          db: {host: h, port: 5432, tags: [a], inner: {deep: x}}
          list: [a, 1]
        group:
          - {id: run, run: 'ls "$dir"'}
          - id: exec
            exec: ["${dir}/bin", "${mode}", "${version}", "${count}", "${on}", "[${empty}]", "${db.port}", "${db.inner.deep}", "${db.tags}", "${list}", $$, $, "$$${dir}"]
            env: {DIR: "${dir}"}
            cwd: ${dir}
            stdin: "${db}"
          - id: op
            op: Own
            with:
              number: ${count}
              text: "${count}"
              mixed: n=${count}
              mode: ${mode}
              list: ${list}
              port: ${db.port}
              "${kept}": [a]
        """

    @Test func vars_areEnvironmentOfRunAndTextElsewhere() throws {
        let expected = #"""
            0 - group
            1 run shell {"run":"ls \"$dir\"","variables":{"count":"3","db":"{\"host\":\"h\",\"inner\":{\"deep\":\"x\"},\"port\":5432,\"tags\":[\"a\"]}","db_host":"h","db_port":"5432","dir":"/usr","empty":"","list":"[\"a\",1]","mode":"0755","on":"true","version":"1.10"}}
            2 exec shell {"environment":{"DIR":"/usr"},"exec":["/usr/bin","0755","1.10","3","true","[]","5432","x","[\"a\"]","[\"a\",1]","$","$","$/usr"],"stdin":"{\"host\":\"h\",\"inner\":{\"deep\":\"x\"},\"port\":5432,\"tags\":[\"a\"]}","workingDirectory":"/usr"}
            3 op Own {"${kept}":["a"],"list":["a",1],"mixed":"n=3","mode":"0755","number":3,"port":5432,"text":"3"}
            """#
        #expect(try outline(Self.file) == expected)
    }

    @Test func set_replacesWithTheDeclaredType() throws {
        let text = """
            vars: {word: a, number: 1, nothing: , list: [1], map: {k: v}}
            group: [{op: Own, with: {w: "x", all: [a]}}, {id: e, forEach: "${list}", op: noop}, {op: P, with: {m: "${map.k}"}}, {run: r}]
            """
        let expected = #"""
            0 - group
            1 op0 Own {"all":["a"],"w":"x"}
            2 e forEach as=item ["x",{"a":1}]
            3 e/* noop templated {} in=2
            4 op2 P {"m":"w"}
            5 run3 shell {"run":"r","variables":{"list":"[\"x\",{\"a\":1}]","map":"{\"k\":\"w\"}","map_k":"w","nothing":"n","number":"0x2","word":"5"}}
            """#
        let set = ["word": "5", "number": "0x2", "nothing": "n", "list": #"["x", {"a": 1}]"#, "map": "{k: w}"]
        #expect(try outline(text, set: set) == expected)
        #expect(try outline("vars: {n: 1}\ngroup: [{op: Own, with:\n  {a: [\n  1]}}]", set: ["n": "7"]).contains("Own"))
    }

    @Test func set_ofAnUndeclaredName_isAnErrorWithSuggestion() {
        #expect(
            faults("name: x\nvars: {dir: a}\ngroup: []", set: ["dri": "b"]) == [
                "2:1: `--set dri`: unknown variable `dri`, did you mean `dir`?"
            ])
        #expect(faults("group: []", set: ["a": "b"]) == ["1:1: `--set a`: unknown variable `a`; `vars` declares the variables of a graph"])
    }

    @Test func set_ofAnotherShape_isAnError() {
        let text = "vars: {list: [], map: {}}\ngroup: []"
        #expect(faults(text, set: ["list": "a"]) == [#"1:1: `--set list`: the variable is a list such as `["a", "b"]`, found `a`"#])
        #expect(faults(text, set: ["map": "[1"]) == [#"1:1: `--set map`: the variable is a map such as `{"key": "value"}`, found `[1`"#])
    }

    @Test func unknownNames_areErrorsAtTheirPlace() {
        let text = """
            vars: {dir: a, db: {port: 1}}
            group:
              - exec: ["${dri}", "${index}", "${db.prot}", "${dir.x}", "${1}", "${", "${}", "${zzzzzz}"]
              - id: e
                forEach: [1]
                exec: ["${itme}", "${item}"]
                env: {A: "${item.any.key}", B: "${nope nope}"}
              - forEach: ["${dir}"]
                group: [{forEach: ["${item}"], op: noop}]
              - {forEach: "${dir}", op: noop}
            """
        #expect(
            faults(text) == [
                "3:12: exec0: unknown variable `dri`, did you mean `dir`?",
                "3:22: exec0: `${index}` exists only inside a `forEach`",
                "3:34: exec0: `${db.prot}`: variable `db` has no key `prot`, did you mean `port`?",
                "3:48: exec0: `${dir.x}`: variable `dir` is not a map",
                "3:60: exec0: `${1}` is not a variable; write `${name}` or `${name.key}`, and `$$` for a literal `$`",
                "3:68: exec0: `${` without `}`; write `$$` for a literal `$`",
                "3:74: exec0: `${}` is not a variable; write `${name}` or `${name.key}`, and `$$` for a literal `$`",
                "3:81: exec0: unknown variable `zzzzzz`; `$$` is a literal `$`",
                "6:12: e: unknown variable `itme`, did you mean `item`?",
                "7:36: e: `${nope nope}` is not a variable; write `${name}` or `${name.key}`, and `$$` for a literal `$`",
                "9:24: group2/*/op0: `${item}` cannot be used in a `forEach` list, which is the same for all elements; let a node make the list",
                "10:15: op3: `forEach` needs a list, and `${dir}` is `a`",
            ])
    }

    @Test func names_mustBeIdentifiers() {
        let text = """
            vars: {a-b: 1, index: 2, 1x: 3, ok_1: 4}
            group:
              - {forEach: [], as: a b, op: noop}
              - {forEach: [], as: index, op: noop}
            """
        #expect(
            faults(text) == [
                "1:8: `vars`: `a-b` cannot name a variable; use letters, digits and `_`, no digit first",
                "1:16: `vars`: `index` is the position of a forEach's element; choose another name",
                "1:26: `vars`: `1x` cannot name a variable; use letters, digits and `_`, no digit first",
                "3:23: op0: `as`: `a b` cannot name a variable; use letters, digits and `_`, no digit first",
                "4:23: op1: `as`: `index` is the position of a forEach's element; choose another name",
            ])
    }

    @Test func anElementAlone_keepsItsType_unlessItIsQuotedOrTextIsWanted() throws {
        let text = """
            group:
              - id: each
                forEach: [1, 2]
                op: Own
                with: {n: "${item}", t: plain}
              - id: typed
                forEach: [1, 2]
                op: Own
                with:
                  n: ${item}
                  m: n=${item}
              - id: wait
                forEach: [1]
                op: delay
                with:
                  seconds: ${item}
              - id: read
                forEach: [1]
                op: readFile
                with:
                  path: ${item}
            """
        let found = try outline(text)
        #expect(found.contains(#"{"n":"${item}","t":"plain"}"#))
        #expect(found.contains(#"{"m":"n=${item}","n":"${=item}"}"#))
        #expect(found.contains(#"{"seconds":"${=item}"}"#))
        #expect(found.contains(#"{"path":"${item}"}"#))
    }
}
