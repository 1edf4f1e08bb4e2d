#!/usr/bin/env bash
# The scheduler gives the same journals in two processes, although each draws its own hash seed.
# Needs the tests built (`swift build --build-tests`).
set -euo pipefail
cd "$(dirname "$0")/.."
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
for run in 1 2; do
    AOP_DETERMINISM_FILE=$files/$run swift test --skip-build --filter DeterminismTests >"$files/log" 2>&1 \
        || { cat "$files/log" >&2; exit 1; }
    [ -s "$files/$run" ] || { echo "the determinism test wrote nothing" >&2; cat "$files/log" >&2; exit 1; }
done
cmp "$files/1" "$files/2" || { echo "two processes gave the same journals for the same seeds"
echo "two processes gave the same journals for the same seeds"
