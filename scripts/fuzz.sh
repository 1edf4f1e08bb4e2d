#!/usr/bin/env bash
# Gives random inputs to the code that reads what others write (docs/testing.md).
#
#   TARGET=name  one target, or `all` (the default)
#   INPUTS=n     so many for each target (default 1,000,000)
#   FUZZER=own   the mutator of aop-fuzz in place of libFuzzer
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
inputs=${INPUTS:-1000000}
all="peer-messages peer-session coordinator-messages graph-file journal-rows snapshot configuration keys"
targets=${TARGET:-all}
[ "$targets" != all ] || targets=$all
# The backtracer would hang beside libFuzzer's own.
export SWIFT_BACKTRACE=enable=no

own() {
    local binary
    $swift build -c release --product aop-fuzz
    binary=$($swift build -c release --show-bin-path)/aop-fuzz
    for target in $targets; do
        mkdir -p ".build/fuzz/$target"
        "$binary" "$target" --inputs "$inputs" --corpus "Tests/FuzzingTests/Corpus/$target" --input-file ".build/fuzz/$target/last-input"
    done
}

led() {
    local options=(-c release --sanitize fuzzer --sanitize address --product aop-fuzz --scratch-path .build/fuzzer -Xswiftc -DLIBFUZZER)
    $swift build "${options[@]}"
    local binary=.build/fuzzer/release/aop-fuzz
    for target in $targets; do
        mkdir -p ".build/fuzz/$target/corpus"
        echo "$target:"
        # What was allocated is counted by limits of its own; pointers that Swift keeps with other bits are no leaks.
        AOP_FUZZ_TARGET=$target ASAN_OPTIONS=detect_leaks=0 "$binary" -runs="$inputs" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=16384 \
            -print_final_stats=1 -artifact_prefix=".build/fuzz/$target/" ".build/fuzz/$target/corpus" "Tests/FuzzingTests/Corpus/$target" \
            2>&1 | grep -E 'ERROR|SUMMARY|Fatal|#[0-9]+ |DONE|stat::|Test unit' | tail -25
    done
}

if [ "${FUZZER:-led}" = own ]; then own; else led; fi
