#!/usr/bin/env bash
# The documentation as a site that needs no network: the documents of this repository by mkdocs (PyPI), the library's reference by the
# toolchain's DocC, both checked for links that lead nowhere and for anything that is fetched from elsewhere.
#   scripts/site.sh [DIRECTORY]     .build/site by default
# BASE=/some/path: where a server will show it, for the reference, whose pages name their place; / by default.
# Without DocC the reference is left out, which it says; so it is with an empty DOCC, which needs no build.
set -euo pipefail
cd "$(dirname "$0")/.."
site=$(realpath -m "${1:-.build/site}")
swift=${SWIFT:-swift}
. scripts/python-tools.sh
python_tools mkdocs pygments pymdown-extensions
[ -n "$PYTHON" ] || exit 0
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

reference() {
    local docc modules target
    docc=${DOCC-$(command -v docc || true)}
    if [ -z "$docc" ] || [ ! -d "$(dirname "$(realpath "$docc")")/../share/docc/render" ]; then
        echo "SKIPPED: there is no DocC with its renderer; the library's reference is left out" >&2
        return
    fi
    "$swift" build --target AOperation >&2
    modules=$("$swift" build --show-bin-path)/Modules
    target=$("$swift" -print-target-info | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["target"]["unversionedTriple"])')
    mkdir "$stage/symbols"
    "$swift" symbolgraph-extract -module-name AOperation -I "$modules" -target "$target" -minimum-access-level public \
        -output-dir "$stage/symbols" >&2
    "$docc" convert Sources/AOperation/AOperation.docc --additional-symbol-graph-dir "$stage/symbols" --output-path "$stage/reference" \
        --fallback-display-name AOperation --fallback-bundle-identifier AOperation \
        --hosting-base-path "${BASE:-}/reference" --transform-for-static-hosting --diagnostic-level error >&2
}
reference

"$PYTHON" scripts/site/stage.py "$stage/documents" "$([ -d "$stage/reference" ] && echo --reference)"
export NO_MKDOCS_2_WARNING=1
"$PYTHON" -m mkdocs build --strict --quiet --config-file "$stage/documents/mkdocs.yml" --site-dir "$stage/site"
if [ -d "$stage/reference" ]; then mv "$stage/reference" "$stage/site/reference"; fi
"$PYTHON" scripts/site/check.py "$stage/site"
rm -rf "$site"
mkdir -p "$(dirname "$site")"
mv "$stage/site" "$site"
echo "$site/index.html; with search and the reference: python3 -m http.server -b 127.0.0.1 -d $site"
