import GraphFile
import Testing

/// `requires`.
@Suite struct RequiresTests {
    @Test func requirements_areRead_everywhere() throws {
        let text = """
            vars: {place: a}
            requires: {label: fast}
            group:
              - {run: a, requires: {cpus: 2, gpus: 1, memory: 1.5GiB, label: ["zone=${place}", big]}}
              - {group: [], requires: {licence: 3, scratch: 10GB}}
              - {forEach: [1], run: a, requires: {gpus: 0}}
            """
        let expected = #"""
            0 - group requires=fast
            1 run0 shell {"run":"a","variables":{"place":"a"}} requires=cpus:2,gpus:1,memory:1610612736,zone=a,big
            2 group1 group requires=licence:3,scratch:10000000000
            3 run2 forEach as=item [1]
            4 run2/* shell templated {"run":"a","variables":{"place":"a"}} in=3 requires=gpus:0
            """#
        #expect(try outline(text) == expected)
    }

    @Test(arguments: [
        ("fast", "33: n: `requires` must be a map such as `{cpus: 2, memory: 2GiB, label: fast}`, found text `fast`"),
        ("{}", "33: n: `requires` is empty"),
        ("{memory: 2}", "42: n: `memory` must be a size such as `2GiB`: `2` has no unit; write `2MiB` or `2GiB`"),
        ("{memory: lots}", "42: n: `memory` must be a size such as `2GiB`: found `lots`"),
        ("{cpus: 1.5}", "40: n: `cpus` must be a whole number: `1.5` is no whole number"),
        ("{gpus: 2GiB}", "40: n: `gpus` must be a whole number: found `2GiB`"),
        ("{gpus: -1}", "40: n: `gpus` must be a whole number: found `-1`"),
        ("{gpus: [1]}", "40: n: `gpus` must be a whole number, found a list"),
        ("{GPU: 1}", "34: n: `GPU` cannot name a resource; use lower-case letters, digits and `_`, a letter first"),
        ("{labels: a}", "34: n: unknown key `labels` in `requires`; did you mean `label`?"),
        ("{label: {}}", "41: n: `label` must be a label or a list of labels, found a map"),
        ("{label: [a, a]}", "45: n: `label` names `a` twice"),
        ("{label: []}", "41: n: `label` names no label"),
        ("{label: ''}", "41: n: `requires`: the label `` is empty"),
        ("{scratch: 2PiB}", "43: n: `scratch` must be a whole number: found `2PiB`"),
        ("{scratch: 2000TiB}", "43: n: `scratch` must be at most 1125899906842624, found `2000TiB`"),
    ])
    func mistakes_areNamed(value: String, fault: String) {
        #expect(faults("group: [{id: n, run: a, requires: \(value)}]") == ["1:\(fault.shifted)"])
    }

    @Test func elementsOfAForEach_cannotBePartOfALabel() {
        #expect(
            faults("group:\n- {forEach: [1], run: a, requires: {label: \"${item}\"}}").first?.contains(
                "`${item}` cannot be used in `requires`: all elements of a forEach require the same") == true)
    }
}

extension String {
    /// Columns are counted from the beginning of the node in the cases above.
    fileprivate var shifted: String {
        guard let column = Int(prefix { $0 != ":" }) else { return self }
        return "\(column + 2)" + drop { $0 != ":" }
    }
}
