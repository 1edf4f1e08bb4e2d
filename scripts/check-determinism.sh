#!/usr/bin/env bash
# The scheduler gives the same journals in two processes, although each draws its own hash seed.
# Needs the tests built (`swift build --build-tests`).
set -euo pipefail
cd "$(dirname "$0")/.."
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
for run in 1 2; do
    if ! AOP_DETERMINISM_FILE=$files/$run swift test --skip-build --filter DeterminismTests >"$files/log" 2>&1; then
        cat "$files/log" >&2
        exit 1
    fi
    if [ ! -s "$files/$run" ]; then
        echo "the determinism test wrote nothing" >&2
        cat "$files/log" >&2
        exit 1
    fi
done
if ! cmp "$files/1" "$files/2"; then
    echo "two processes gave different journals for the same seed" >&2
    exit 1
fi
echo "two processes gave the same journals for the same seeds"
