#!/usr/bin/env bash
# Runs built tests: `scripts/run-tests.sh --filter REGEX`, or what else `swift test` takes. A run that fails ends with
# what failed. One that does not end within AOP_TEST_LIMIT seconds (default 1,800) fails with what its threads were
# doing and which tests had not ended.
set -uo pipefail
cd "$(dirname "$0")/.."
limit=${AOP_TEST_LIMIT:-1800}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# All tests at once would wait for each other on the few threads that there are, and their time limits would count that.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-12}

exec 3> >(tee "$log")
tee=$!
# Line by line, so that a hang hides nothing.
stdbuf -oL "${SWIFT:-swift}" test --skip-build "$@" >&3 2>&1 &
run=$!

hasEnded() { ! kill -0 "$run" 2>/dev/null; }
waited=0
until hasEnded || [ "$waited" -ge "$limit" ]; do
    sleep 1
    waited=$((waited + 1))
done
if hasEnded; then
    wait "$run"
    status=$?
    if [ "$status" -ne 0 ]; then
        exec 3>&-
        wait "$tee"
        echo "--- what failed (exit code $status):"
        grep -aE '^(✘|↳|error:|fatal:|Fatal error)|: (Fatal error|error):' "$log" | cut -c1-2000 | tail -200
    fi
    exit "$status"
fi

descendants() { for child in $(pgrep -P "$1"); do descendants "$child"; echo "$child"; done; }
for process in $(descendants "$run"); do
    echo "--- threads of process $process: $(tr '\0' ' ' <"/proc/$process/cmdline" | cut -c1-120)"
    if command -v gdb >/dev/null; then
        timeout 120 gdb -p "$process" -batch -ex 'thread apply all bt 40' 2>/dev/null \
            | grep -E '^Thread|(Sources|Tests)/' | cut -c1-200 | head -150
    fi
    kill -KILL "$process" 2>/dev/null
done
kill -KILL "$run" 2>/dev/null
echo "the tests did not end within $limit s. These had begun and not ended:"
# Not every awk takes a list of characters that are more than one byte.
awk '/^◇ Test (case |run started)/{next}
     /^◇ Test .* started\.$/ {name = $0; sub(/^◇ Test /, "", name); sub(/ started\.$/, "", name); open[name]++}
     /^(✔|✘) Test .* after / {name = $0; sub(/^(✔|✘) Test /, "", name); sub(/ (with [0-9]+ test cases? )?(passed|failed) after .*$/, "", name); open[name]--}
     END {for (name in open) if (open[name] > 0) print "  " name}' "$log" | sort
exit 1
