/// Graph files the tests use.
enum Graphs {
    static let wordCount = """
        name: word-count
        vars:
          dir: /nowhere
        ordered:
          - id: files
            run: find "$dir" -type f | sort
            output: lines
          - id: count
            forEach: files
            as: file
            run: wc -w < "$file"
            output: json
            maxConcurrent: 8
          - id: total
            receives: count
            run: tr -c '0-9' '\\n' | awk '{s += $1} END {print s}'
            output: json

        """

    /// `count` operations, each of which appends its path to `file` when it starts, and then takes a moment.
    static func started(_ count: Int, file: String, moment: String = "0.1") -> String {
        """
        name: started
        group:
          - id: each
            forEach: [\((0..<count).map(String.init).joined(separator: ", "))]
            as: number
            run: echo "$number" >> '\(file)'; sleep \(moment); echo $((number * 2))
            output: json

        """
    }

    static let failing = """
        name: failing
        group:
          - id: good
            run: echo fine
          - id: bad
            run: echo first; echo oops >&2; exit 3

        """

    static let nested = """
        name: nested
        ordered:
          - id: letters
            group:
              - {id: a, run: echo A}
              - {id: b, run: "echo '{\\"x\\": 1}'", output: json}
              - {id: c, run: "printf 'hi'", output: bytes}
              - {id: d, run: "true", output: none}
          - id: last
            receives: letters
            run: cat
            output: json

        """

    static let wrong = """
        name: wrong
        ordered:
          - id: a
            run: echo hi
            retrie: 3
          - id: a
            run: echo again
            timeout: 5x
          - id: c
            run: echo c
            receives: nothing

        """
}
