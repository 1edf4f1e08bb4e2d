#!/usr/bin/env bash
# Every link of the documents below a directory that leads to a file leads to one that is there.
#
#   check-links.sh [DIRECTORY]     the repository's own documents, or those of a directory, as it is packaged
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
if [ -z "${1:-}" ]; then documents=$(git ls-files '*.md'); else documents=$(find . -name '*.md' | sort); fi
# Between fences stands code.
links() { awk '/^[ \t]*```/ {code = !code} !code {while (match($0, /\]\([^)# ]+/)) {print FNR, substr($0, RSTART + 2, RLENGTH - 2); $0 = substr($0, RSTART + RLENGTH)}}' "$1"; }
problems=0
for document in $documents; do
    while read -r line target; do
        case $target in *:*) continue ;; esac
        [ ! -e "$(dirname "$document")/$target" ] || continue
        echo "$document:$line: $target is not there" >&2
        problems=$((problems + 1))
    done < <(links "$document")
done
[ "$problems" -eq 0 ]
