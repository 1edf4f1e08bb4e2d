#!/usr/bin/env bash
# Runs every example, each in a directory of its own that is removed.
#
#   run-examples.sh DIRECTORY     where aop, Duplicates and DuplicatesWorker are
set -euo pipefail
bin=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export TMPDIR=$place
for example in examples/*.yaml; do
    name=$(basename "$example" .yaml)
    echo "── $example"
    # Those that write files say where.
    settings=()
    if grep -q '^  dir: /tmp/' "$example"; then settings=(--set "dir=$place/$name"); fi
    "$bin/aop" run "$example" -o quiet "${settings[@]}" | cut -c1-200
done
echo "── examples/Duplicates"
BIN=$bin examples/Duplicates/run.sh /usr/share/common-licenses
