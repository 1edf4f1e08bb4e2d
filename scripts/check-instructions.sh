#!/usr/bin/env bash
# How many instructions fixed work takes in the scheduler and the journal's codec, beside what it took when
# scripts/instructions.txt was written: times mean nothing on a shared machine, instructions repeat. What takes more than
# AOP_INSTRUCTIONS_TOLERANCE percent more (default 4) fails, so that a slowdown shows in the commit that made it.
# `--write` writes the file anew: with a change that is meant, and when work has become much cheaper.
set -euo pipefail
cd "$(dirname "$0")/.."
baseline=scripts/instructions.txt
tolerance=${AOP_INSTRUCTIONS_TOLERANCE:-4}
command -v valgrind >/dev/null || scripts/install-dependencies.sh valgrind
swift=${SWIFT:-swift}
"$swift" build -c release --product aop-count >&2
program=$("$swift" build -c release --show-bin-path)/aop-count

# The same hashes in every run.
export SWIFT_DETERMINISTIC_HASHING=1
# The same memcpy on every processor.
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM
count() {
    local log
    log=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" 2>&1 >/dev/null) || {
        echo "$log" >&2
        return 1
    }
    awk '/Collected :/ {found = $4} END {if (found == "") exit 1; print found}' <<<"$log"
}

# What the program itself takes is no work's.
own=$(count nothing)
measured=$(for work in flood chain fan contention facts; do
    all=$(count "$work")
    echo "$work $((all - own))"
done)

if [ "${1:-}" = --write ]; then
    echo "$measured" >"$baseline"
    cat "$baseline"
    exit 0
fi
awk -v tolerance="$tolerance" '
    NR == FNR {was[$1] = $2; next}
    {
        seen[$1] = 1
        if (!($1 in was)) {print $1 ": not in the baseline; run scripts/check-instructions.sh --write"; failed = 1; next}
        change = 100 * ($2 - was[$1]) / was[$1]
        printf "%-12s %12d instructions, %+.2f %%\n", $1, $2, change
        if (change > tolerance) {print "  more than " tolerance " % above " was[$1] ": make it cheaper, or say why not and --write"; failed = 1}
        if (change < -tolerance) print "  cheaper than the baseline says: --write, so that it stays so"
    }
    END {
        for (work in was) if (!(work in seen)) {print work ": in the baseline, and not measured"; failed = 1}
        exit failed
    }' "$baseline" - <<<"$measured"
