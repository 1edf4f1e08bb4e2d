#!/usr/bin/env bash
# How much strangers slow a client that may come in: a client submits small graphs one after another and waits for each, with
# FLOOD_RATE (default 100) connections a second that bring garbage and without them, in turn, FLOOD_SECONDS (60) each,
# FLOOD_PAIRS (3) times. Prints what was done in each, and fails when it is less than four fifths on the median.
#
# With a directory, takes `aop` and `TrialFlood` from there instead of building them.
#
# Times are those of this machine: let nothing else run on it.
set -euo pipefail
cd "$(dirname "$0")/.."
rate=${FLOOD_RATE:-100}
seconds=${FLOOD_SECONDS:-60}
pairs=${FLOOD_PAIRS:-3}
operations=${FLOOD_OPERATIONS:-1000}

if [ $# -gt 0 ]; then
    bin=$(realpath "$1")
else
    swift=${SWIFT:-swift}
    $swift build -c release --product aop --quiet
    $swift build -c release --product TrialFlood --quiet
    bin=$($swift build -c release --show-bin-path)
fi
aop=$bin/aop
files=$(mktemp -d)
clean_up() {
    trap - EXIT INT TERM
    kill $(jobs -p) 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$files"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

export AOP_CONFIG=/dev/null XDG_STATE_HOME=$files TMPDIR=$files
keys=$files/keys
$aop keys init --dir "$keys" >/dev/null
server=$($aop keys list --dir "$keys" -o json | sed -n 's/.*"serverKey": *"\([^"]*\)".*/\1/p')
$aop coordinator --listen tcp://127.0.0.1:0 --no-http --data "$files/data" --keys "$keys" >"$files/coordinator.out" 2>"$files/coordinator.err" &
coordinator=$!
for _ in $(seq 100); do grep -q '^listening on' "$files/coordinator.out" && break; sleep 0.1; done
endpoint=$(sed -n 's/^listening on //p' "$files/coordinator.out")
port=${endpoint##*:}
$aop worker --connect "$endpoint" --key-file "$keys/worker.key" --slots 2 2>"$files/worker.err" &
{
    echo "name: beside-a-flood"
    echo "group:"
    for ((n = 0; n < operations; n++)); do echo "  - {op: noop}"; done
} >"$files/graph.yaml"
submit() { $aop submit "$files/graph.yaml" --wait -o quiet --coordinator "$endpoint" --key-file "$keys/submit.key" >/dev/null; }
submit

# Milliseconds of the processor that a process has used.
used() { awk -v tick="$(getconf CLK_TCK)" '{print int(($14 + $15) * 1000 / tick)}' "/proc/$1/stat"; }

# Prints how many operations a second were done in the window, and what the coordinator used of a processor for it.
measure() {
    local end=$((SECONDS + seconds)) done=0 before begin
    before=$(used "$coordinator")
    begin=$(date +%s%N)
    while [ "$SECONDS" -lt "$end" ]; do
        submit
        done=$((done + operations))
    done
    awk -v done=$done -v ns=$(($(date +%s%N) - begin)) -v ms=$(($(used "$coordinator") - before)) \
        'BEGIN {printf "%.0f %.0f", done * 1e9 / ns, ms * 1e8 / ns}'
}

with_flood() {
    $bin/TrialFlood 127.0.0.1 "$port" "$server" "$rate" 2>"$files/flood.err" &
    local flood=$!
    measure
    kill "$flood"
    wait "$flood" 2>/dev/null || true
}

echo "$operations operations a submission, $seconds s each, $rate connections a second"
printf '%-6s %16s %16s %8s\n' PAIR "OPS/S ALONE" "OPS/S FLOODED" RATIO
: >"$files/ratios"
for ((pair = 1; pair <= pairs; pair++)); do
    # Every other pair in the other order.
    if ((pair % 2)); then
        read -r alone alone_cpu <<<"$(measure)"
        read -r flooded flooded_cpu <<<"$(with_flood)"
    else
        read -r flooded flooded_cpu <<<"$(with_flood)"
        read -r alone alone_cpu <<<"$(measure)"
    fi
    ratio=$(awk -v a="$flooded" -v b="$alone" 'BEGIN {printf "%.3f", a / b}')
    echo "$ratio" >>"$files/ratios"
    printf '%-6s %16s %16s %8s   (coordinator: %s %% and %s %% of a processor)\n' "$pair" "$alone" "$flooded" "$ratio" "$alone_cpu" "$flooded_cpu"
done
echo "the flood: $(tail -n 1 "$files/flood.err") in the last window"
echo "the coordinator's log: $(grep -c . "$files/coordinator.err") lines"
median=$(sort -n "$files/ratios" | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}')
echo "median ratio: $median"
awk -v m="$median" 'BEGIN {exit !(m >= 0.8)}' || {
    echo "check-flood: the client is slowed by more than a fifth" >&2
    exit 1
}
