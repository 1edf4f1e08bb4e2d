#!/usr/bin/env bash
# The package examples/Duplicates has the targets, with the dependencies, that the repository builds and tests in its place; and
# examples/README.md names every example.
set -euo pipefail
cd "$(dirname "$0")/.."
own=$(mktemp) all=$(mktemp)
trap 'rm -f "$own" "$all"' EXIT
${SWIFT:-swift} package --package-path examples/Duplicates dump-package >"$own"
${SWIFT:-swift} package dump-package >"$all"
python3 - "$own" "$all" <<'END'
import json, sys

def targets(path):
    """Target: kind and the names of what it depends on, whichever package that is in."""
    return {
        target["name"]: (target["type"], sorted(next(iter(one.values()))[0] for one in target["dependencies"]))
        for target in json.load(open(path))["targets"]
    }

own, everything = map(targets, sys.argv[1:])
problems = [f"{name}: {own[name]} in examples/Duplicates, {everything.get(name)} in the repository" for name in own if own[name] != everything.get(name)]
sys.exit("\n".join(problems) if problems or not own else None)
END
missing=0
for example in examples/*.yaml examples/*/; do
    grep -qF "]($(basename "$example")" examples/README.md || { echo "examples/README.md does not name $example" >&2; missing=1; }
done
[ "$missing" -eq 0 ]
echo "the examples are what is built and listed"
