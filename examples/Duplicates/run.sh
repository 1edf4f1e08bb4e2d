#!/usr/bin/env bash
# Finds duplicates on a cluster of its own: starts a coordinator and a worker with two processes, runs the program, ends them.
#
#   examples/Duplicates/run.sh [FOLDER…]     by default /usr/share/doc
#
# BIN names the directory where aop, Duplicates and DuplicatesWorker are; without it they are built. Everything it
# makes is in a temporary directory that is removed.
set -euo pipefail
repository=$(cd "$(dirname "$0")/../.." && pwd)
if [ -z "${BIN:-}" ]; then
    command -v swift >/dev/null || { echo "swift is missing: install Swift 6.2 or later, or name what is built with BIN=…" >&2; exit 69; }
    for product in aop Duplicates DuplicatesWorker; do swift build --package-path "$repository" --product "$product" >&2; done
    BIN=$(swift build --package-path "$repository" --show-bin-path)
fi
for product in aop Duplicates DuplicatesWorker; do
    [ -x "$BIN/$product" ] || { echo "there is no $BIN/$product" >&2; exit 69; }
done
[ $# -gt 0 ] || set -- /usr/share/doc

place=$(mktemp -d)
export XDG_STATE_HOME=$place
coordinator= worker=
finish() {
    # The worker first: it gives back what it has.
    for process in $worker $coordinator; do kill "$process" 2>/dev/null && wait "$process" || true; done
    rm -rf "$place"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$BIN/aop" coordinator --listen "ipc://$place/aop.sock" --http 127.0.0.1:0 --data "$place/data" >"$place/coordinator.log" 2>&1 &
coordinator=$!
"$BIN/DuplicatesWorker" --connect "ipc://$place/aop.sock" --processes 2 >"$place/worker.log" 2>&1 &
worker=$!
status=0
"$BIN/Duplicates" --cluster "ipc://$place/aop.sock" "$@" || status=$?
case $status in 0 | 2) ;; *) tail -n 20 "$place"/*.log >&2 ;; esac
exit "$status"
