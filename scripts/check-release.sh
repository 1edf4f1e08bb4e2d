#!/usr/bin/env bash
# What only a release build shows: `scripts/check-release.sh`, after `swift build -c release --product aop`.
#
# 1. No method of ours is an empty shell. Where every call of a method that is neither final nor public was inlined, the optimiser of Swift 6.3
#    replaces its body by one that ends the process ("Call of deleted method"), although code which it has given to other modules may still call it:
#    an operation of another module then dies in finish(with:). Final methods are not affected.
# 2. The tour: every command and screen, with killed processes. Its document is written aside.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$("${SWIFT:-swift}" build -c release --show-bin-path)
[ -x "$bin/aop" ] || { echo "there is no release build; swift build -c release --product aop makes it" >&2; exit 1; }
command -v objdump >/dev/null || { echo "objdump is needed (Debian: apt-get install binutils)" >&2; exit 1; }

shells() {
    local object=$1 address
    objdump -dr --no-show-raw-insn "$object" \
        | awk '/^[0-9a-f]+ <.*>:$/ {address = $1} /swift_deleted(Async)?MethodError/ {print address}' | sort -u \
        | while read -r address; do nm "$object" | awk -v address="$address" '$1 == address {print $3}'; done
}

looked=0
found=""
for module in Sources/*/; do
    for object in "$bin/$(basename "$module").build"/*.o; do
        [ -f "$object" ] || continue
        looked=$((looked + 1))
        found+=$(shells "$object")$'\n'
    done
done
[ "$looked" -gt 0 ] || { echo "there are no objects of ours in $bin: is it a build of another layout?" >&2; exit 1; }
if [ -n "${found//[[:space:]]/}" ]; then
    echo "the optimiser emptied these methods; make each of them final:" >&2
    "${SWIFT:-swift}" demangle --simplified --compact $found >&2
    exit 1
fi
echo "no method is an empty shell ($looked objects)"

document=$(mktemp -d)
trap 'rm -rf "$document"' EXIT
mkdir "$document/images"
scripts/tour.sh "$bin/aop" "$document"
