#!/usr/bin/env bash
# Every Swift example of the library's articles and of the Swift guide is compiled: each ```swift block of the documentation catalogue
# stands, indentation apart, in a file of Tests/DocumentationExampleTests; each of docs/swift.md there, in an example, or in the test of
# another document.
set -euo pipefail
cd "$(dirname "$0")/.."
articles=Sources/AOperation/AOperation.docc
tests=Tests/DocumentationExampleTests
others=(examples/TextWorker examples/Duplicates/Sources Tests/ClusterTests/ClusterQueueDocumentTests.swift
    Tests/ClusterTestingTests/TestingDocumentTests.swift)
check() { awk -v tests="$tests" '
    function trimmed(line) { gsub(/^[ \t]+|[ \t\r]+$/, "", line); return line }
    function problem(text) { printf "%s:%d: %s\n", article, opened, text; problems++ }

    # The tests come first: all their lines, each between two newlines.
    FILENAME ~ /\.swift$/ {
        code = code (FNR == 1 ? "\f\n" : "") trimmed($0) "\n"
        next
    }

    FNR == 1 {
        if (fence) problem("the block does not end")
        fence = ""
        article = FILENAME
    }
    !fence && /^[ \t]*```/ {
        fence = trimmed($0)
        opened = FNR
        block = "\n"
        if (fence == "```") problem("the block does not name its language")
        next
    }
    fence && trimmed($0) == "```" {
        if (fence == "```swift") {
            examples++
            if (block == "\n" || !index(code, block)) problem("the example stands in no file of " tests)
        }
        fence = ""
        next
    }
    fence { block = block trimmed($0) "\n" }

    END {
        if (fence) problem("the block does not end")
        if (problems || !examples) exit 1
        printf "all %d Swift examples of %s are compiled\n", examples, of
    }
' "$@"; }
check of="the articles" "$tests"/*.swift "$articles"/*.md
mapfile -t sources < <(find "${others[@]}" -name '*.swift' -not -path '*/.build/*')
check of="the Swift guide" "$tests"/*.swift "${sources[@]}" docs/swift.md
