import Coordinator
import GraphFile

/// Graph files, as `aop check` reads them.
enum GraphFiles {
    static func run(_ bytes: [UInt8]) {
        do {
            let loaded = try GraphFileLoader.load(bytes: bytes, file: "fuzz.yaml", options: GraphFileOptions(set: ["dir": "x"]))
            _ = loaded.nodes
            for fault in GraphAdmission.faults(of: loaded.graph) {
                _ = loaded.error(atNode: fault.node, path: fault.path, message: fault.message).description
            }
        } catch {
            _ = error.errors.map(\.description)
        }
    }

    static var seeds: [[UInt8]] { [everything, retried, json].map { Array($0.utf8) } }

    /// A graph that names most of what there is.
    static let everything = """
        name: all
        vars: {dir: /usr, names: [a, b], stage: staging}
        maxConcurrent: 8
        priority: 3
        weight: 2
        ordered:
          - id: files
            run: find "$dir" -type f
            output: lines
          - id: count
            forEach: files
            as: file
            run: wc -w < "$file"
            output: json
            maxConcurrent: 2
            unique: "page ${file}"
          - id: total
            receives: count
            exec: [awk, "{s += $1}"]
            retry: {attempts: 3, backoff: {kind: linear, initial: 2s, max: 1m, jitter: 0.5}, on: [75, timeout, SIGKILL]}
            timeout: 1m30s
            grace: 500ms
            env: {LC_ALL: C}
            cwd: /tmp
          - id: build
            exclusive: [db, "deploy-${stage}"]
            onFailure: continue
            group:
              - {id: a, op: delay, with: {seconds: 0.1}, delay: 1s, deadline: 1h, queueTimeout: 5m, crashLimit: 3}
              - {id: b, op: noop, after: a, atMostOnce: true, requires: {cpus: 1, label: [fast, zone=a], memory: 1GiB}}
              - {id: c, run: cat, stdin: x, receives: [a, b], whenReceivedFails: run, notBefore: 2027-01-01T00:00:00+01:00}
              - id: d
                run: ./publish
                conditions:
                  - {noFailedDependencies: true}
                  - {timeWindow: "22:00-06:00", zone: Europe/Berlin}
                  - {rateLimit: {key: registry, count: 5, per: 1m}}
                  - {fileExists: /mnt, operation: {run: mount /mnt}, silent: true}
                  - any: [{reachable: "tcp://localhost:80", wait: true}, all: [{command: "true", negated: true}]]
          - {id: e, forEach: "${names}", op: readFile, with: {path: "/tmp/${item}"}, exclusive: {key: db, limit: 3}}
        """

    private static let retried = """
        group:
          - {id: fetch, run: ./fetch}
          - &x {id: unpack, receives: fetch, run: ./unpack, maxOutput: 64MiB}
          - {id: check, receives: unpack, run: ./check, retry: {attempts: 3, scope: net}}
          - {id: twice, unique: one, onDuplicate: join, run: "true"}
        """

    private static let json = #"""
        {"name": "j", "group": [{"id": "\ud83d\ude00", "op": "http", "with": {"url": "http://h/", "headers": {"a": ["b", 1e3, null]}}},
         {"ordered": [{"run": "true"}, {"forEach": ["1", "2"], "group": [{"run": "echo ${item} ${index}"}]}], "retry": 2}]}
        """#

    static let words = [
        "group:", "ordered:", "forEach: ", "receives: ", "after: ", "run: ", "exec: [", "op: ", "with: {", "retry: ", "scope: net",
        "exclusive: ", "unique: ", "onDuplicate: join", "conditions:\n", "any: [", "all: [", "negated: true", "timeWindow: ", "rateLimit: ",
        "requires: {", "vars: {", "${item}", "${", "$$", "&a ", "*a", "<<: *a", "!!binary ", "!!str ", "---\n", "...\n", "? ", "- ", "- - ",
        "[", "]",
        "{", "}", ": ", "\n", "\n  ", "|\n", ">-\n", "\"", "'", "\\u0000", "\\ud800", "\u{FEFF}", "%YAML 1.1\n", "0x7fffffffffffffff",
        "1e999", "-1",
        "9223372036854775808", "999999999d", "1.5s", "64MiB", "2027-02-30T25:61:61Z", "priority: 101", "weight: 0", "maxConcurrent: 1",
        "atMostOnce: true", "recomputable: true", "~", "null", ".nan", ".inf", "\t", "\u{85}", "#",
    ]
}
