#!/usr/bin/env bash
# Every test that docs/semantics-coverage.md names exists: `Suite.test()`, or `Target/Suite.test()`, is a function of that
# name in a Swift file under Tests that names the suite. Further arguments are directories in which tests are looked for, too.
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
    if [[ -z $files ]] || ! xargs -d '\n' grep -qE "\b(struct|class|extension) $suite\b" <<<"$files"; then
        echo "$document: there is no test $name" >&2
        missing=$((missing + 1))
    fi
done < <(grep -oE '`([A-Za-z]+/)?[A-Z][A-Za-z0-9_]*\.[A-Za-z0-9_]+\(\)`' "$document" | tr -d '`' | sort -u)
if ((missing > 0)); then exit 1; fi
echo "all $named tests that $document names exist"
