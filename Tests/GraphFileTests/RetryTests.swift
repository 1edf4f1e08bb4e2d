import GraphFile
import Testing

/// `retry` as a map.
@Suite struct RetryTests {
    @Test func attemptsBackoffAndReasons_areRead_everywhere() throws {
        let text = """
            retry: {attempts: 1}
            group:
              - {run: a, retry: {attempts: 3, backoff: {kind: fibonacci, initial: 2s, max: 1m, jitter: 0.25}, on: [75, timeout]}}
              - {group: [], retry: {attempts: 2, backoff: {initial: 2m, factor: 1.5}, on: [SIGKILL, MyError]}}
              - {forEach: [1], run: a, retry: {attempts: 1, backoff: {kind: constant, jitter: 0}}}
              - {run: b, receives: run0, retry: {attempts: 1, scope: net}}
            """
        let expected = #"""
            0 - group retry=1
            1 run0 shell {"run":"a"} retry=3 backoff=fibonacci:2000:60000:250 on=75,timeout
            2 group1 group retry=2 backoff=exponential:120000:120000:1000:1500 on=signal 9,MyError
            3 run2 forEach as=item [1]
            4 run2/* shell templated {"run":"a"} in=3 retry=1 backoff=constant:1000:60000:0
            5 run3 shell {"run":"b"} receives=[1] retry=1 of=net forward
            """#
        #expect(try outline(text) == expected)
    }

    @Test(arguments: [
        ("{on: [1]}", "`retry` needs `attempts`, the number of attempts after the first"),
        ("{attempts: 0}", "`attempts` must be at least 1; without `retry` there is one attempt"),
        ("{attempts: x}", "`attempts` must be a whole number, found text `x`"),
        ("{attempts: }", "`attempts` has no value"),
        ("{attempts: 1, backof: {}}", "unknown key `backof` in `retry`, did you mean `backoff`?"),
        ("{attempts: 1, backoff: 5s}", "`backoff` must be a map such as `{kind: linear, initial: 2s}`, found text `5s`"),
        (
            "{attempts: 1, backoff: {kind: square}}",
            "`kind` must be one of `constant`, `linear`, `exponential`, `fibonacci`, found text `square`"
        ),
        ("{attempts: 1, backoff: {initial: 5}}", "`initial`: `5` has no unit; write `5s` for seconds"),
        ("{attempts: 1, backoff: {factor: 0.5}}", "`factor`: must be a number from 1 to 1000 with at most three decimals, found `0.5`"),
        ("{attempts: 1, backoff: {kind: linear, factor: 3}}", "`factor` is for the kind `exponential` alone"),
        ("{attempts: 1, backoff: {max: 10ms}}", "`max` is shorter than `initial`, which is 1s"),
        ("{attempts: 1, backoff: {jitter: 2}}", "`jitter`: must be a number from 0 to 1 with at most three decimals, found `2`"),
        ("{attempts: 1, scope: all}", "`scope` must be one of `node`, `net`, found text `all`"),
        ("{attempts: 1, on: 75}", "`on` must be a list such as `[75, timeout, SIGKILL]`, found `75`"),
        ("{attempts: 1, on: []}", "`on` is empty; leave it out to try again whatever failed"),
        ("{attempts: 1, on: [0]}", "`0` in `on` is no exit code of a failure; those are from 1 to 255"),
        ("{attempts: 1, on: [256]}", "`256` in `on` is no exit code of a failure; those are from 1 to 255"),
        ("{attempts: 1, on: [timout]}", "`on`: unknown failure `timout`, did you mean `timeout`?"),
        ("{attempts: 1, on: [SIGKIL]}", "`on`: unknown signal `SIGKIL`, did you mean `SIGKILL`?"),
        ("{attempts: 1, on: [[1]]}", "`on` must hold exit codes and names of errors, found a list in it"),
    ])
    func mistakes_areNamed(value: String, message: String) {
        let found = faults("group: [{id: n, run: a, retry: \(value)}]")
        #expect(found.count == 1 && found.first?.hasSuffix(": n: \(message)") == true, "\(found)")
    }
}
