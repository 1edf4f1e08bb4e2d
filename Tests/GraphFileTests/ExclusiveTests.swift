import GraphFile
import Testing

/// `exclusive` in graph files.
@Suite struct ExclusiveTests {
    @Test func keysListsAndLimits_areRead_everywhere() throws {
        let text = """
            vars: {stage: test}
            exclusive: whole
            group:
              - {run: a, exclusive: db}
              - {op: noop, exclusive: [db, "deploy-${stage}"]}
              - {group: [{exec: [a], exclusive: {key: net, limit: 3}}], exclusive: [db, {key: cpu, limit: 2}]}
              - {forEach: [1, 2], run: a, exclusive: {key: 0755}}
            """
        let expected = #"""
            0 - group exclusive=whole
            1 run0 shell {"run":"a","variables":{"stage":"test"}} exclusive=db
            2 op1 noop {} exclusive=db,deploy-test
            3 group2 group exclusive=db,cpu:2
            4 group2/exec0 shell {"exec":["a"]} in=3 exclusive=net:3
            5 run3 forEach as=item [1,2]
            6 run3/* shell templated {"run":"a","variables":{"stage":"test"}} in=5 exclusive=0755
            """#
        #expect(try outline(text) == expected)
    }

    @Test(arguments: [
        ("[]", "`exclusive` names no key"),
        ("[a, a]", "`exclusive` names `a` twice"),
        ("[[a]]", "`exclusive` must be a key, `{key: …, limit: …}` or a list of these, found a list"),
        ("''", "`exclusive`: the key `` is empty"),
        ("{limit: 2}", "`exclusive` needs `key`, as in `{key: db, limit: 3}`"),
        ("{key: a, limit: 0}", "`limit` must be a whole number from 1 to 2147483647, found `0`"),
        ("{key: a, limt: 2}", "unknown key `limt` in `exclusive`, did you mean `limit`?"),
        ("{key: [a]}", "`key` must be text, found a list"),
        ("'${item}'", "`${item}` cannot be used in `exclusive`: the keys of a forEach are the same for all its elements"),
        ("'${nobody}'", "unknown variable `nobody`; `$$` is a literal `$`"),
        (
            "k$item",
            "`$item` cannot be used in `exclusive`: the keys of a forEach are the same for all its elements; write `$$item` for a literal `$`"
        ),
        (
            "{key: 'deploy-$stage'}",
            "`exclusive`: `$stage` is taken as it is written; write `${stage}` for the variable, or `$$stage` for a literal `$`"
        ),
    ])
    func mistakes_areNamed(value: String, message: String) {
        let found = faults("vars: {stage: test}\ngroup: [{id: n, forEach: [1], run: a, exclusive: \(value)}]")
        #expect(found.count == 1 && found.first?.hasSuffix(": n: \(message)") == true, "\(found)")
    }

    @Test func dollarsOfNoVariable_areThemselves() throws {
        let lines = try outline("group: [{run: a, exclusive: ['$$item', '$5', 'a$b', '$']}]")
        #expect(lines.hasSuffix("exclusive=$item,$5,a$b,$"), "\(lines)")
    }

    @Test func uniqueIds_areNotTheSameForAllElements_byMistake() {
        let found = faults("group: [{id: n, forEach: [1], run: a, unique: 'u-$item'}]")
        #expect(
            found.first?.hasSuffix(
                ": n: `unique`: `$item` is taken as it is written; write `${item}` for the variable, or `$$item` for a literal `$`")
                == true,
            "\(found)")
    }
}
