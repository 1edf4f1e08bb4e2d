#!/usr/bin/env bash
# Every test that docs/semantics-coverage.md names exists: `Suite.test()`, or `Target/Suite.test()`, is a function of that
# name in a Swift file under Tests that names the suite. Further arguments are directories in which tests are looked for, too.
# The numbers at its head are those of its tables.
set -euo pipefail
cd "$(dirname "$0")/.."
document=docs/semantics-coverage.md
roots=(Tests "$@")
named=0 missing=0
while read -r name; do
    target=${name%%[/.]*}
    [[ $name == */* ]] || target=
    path=${name##*/}
    suite=${path%%.*} test=${path#*.}
    test=${test%\(\)}
    folders=()
    for root in "${roots[@]}"; do [[ ! -d $root/$target ]] || folders+=("$root/$target"); done
    named=$((named + 1))
    files=$(grep -rlE --include='*.swift' "\bfunc $test\(" "${folders[@]:-/dev/null}" || true)
    if [[ -z $files ]] || ! xargs -d '\n' grep -qE "\b(struct|class|extension) ([A-Za-z]+\.)?$suite\b" <<<"$files"; then
        echo "$document: there is no test $name" >&2
        missing=$((missing + 1))
    fi
done < <(grep -oE '`([A-Za-z]+/)?[A-Z][A-Za-z0-9_]*\.[A-Za-z0-9_]+\(\)`' "$document" | tr -d '`' | sort -u)
if ((missing > 0)); then exit 1; fi
awk -F ' [|] ' -v document="$document" '
    function standing(cell) {
        sub(/ [|]$/, "", cell)
        if (cell == "—") return "not about this side"
        if (cell ~ /^[*]*refused/) return "refused by name"
        if (cell ~ /^[*]*not yet/) return "not yet"
        if (cell ~ /; refused /) return "shown, and refused for some graphs"
        return cell ~ /not yet/ ? "shown in part" : "shown"
    }
    !/^[|] / || NF != 3 || $1 == "| Rule" || $2 == "on a queue" { next }
    $2 ~ /^[0-9]+$/ { sub(/^[|] /, "", $1); sub(/ [|]$/, "", $3); told[1, $1] = $2; told[2, $1] = $3; names[$1]; next }
    { found[1, standing($2)]++; found[2, standing($3)]++; found[1, "rules"]++; found[2, "rules"]++ }
    END {
        for (name in names) for (side = 1; side <= 2; side++) if (told[side, name] + 0 != found[side, name] + 0) {
            printf "%s: %s is %d in the table of numbers, column %d; counted: %d\n", document, name, told[side, name], side, found[side, name]
            wrong = 1
        }
        exit wrong
    }' "$document" >&2
echo "all $named tests that $document names exist"
