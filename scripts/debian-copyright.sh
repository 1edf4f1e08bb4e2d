#!/usr/bin/env bash
# Prints the copyright file of the Debian package: what the sources say of themselves, and what those say that are inside of the binary.
#
#   debian-copyright.sh
#
# Nothing is said that no file says. The licences are those of the packages as they were resolved for the build.
set -euo pipefail
cd "$(dirname "$0")/.."
revision=$(git rev-parse HEAD 2>/dev/null || true)
cat <<END
This package was made by scripts/build-deb.sh of the sources of AOperation Cluster${revision:+, at the commit
$revision}.

END
own=$(find . -maxdepth 1 -iname 'licen[cs]e*' -o -maxdepth 1 -iname 'copying*' | head -n 1)
if [ -n "$own" ]; then
    cat "$own"
else
    cat <<'END'
These sources name no holder of their copyright, and come with no licence: no permission to copy, change or distribute them, or what is
made of them, is stated anywhere in them. Ask those from whom you have them.
END
fi

checkouts=
for directory in .build/static/checkouts .build/checkouts; do
    [ -d "$directory" ] && checkouts=$directory && break
done
texts=$(mktemp -d)
trap 'rm -rf "$texts"' EXIT
# Each text once, with the names of all that have it.
note() {
    local name=$1 file=$2 sum
    sum=$(sha256sum <"$file" | cut -d ' ' -f 1)
    cp "$file" "$texts/$sum.text"
    echo "$name" >>"$texts/$sum.names"
}
printf '\nThese were resolved for the build, and what the binary needs of them is inside of it:\n\n'
awk -F'"' '/"identity"/ {name = $4} /"location"/ {place = $4} /"version" : "/ {printf "    %s %s (%s)\n", name, $4, place}' Package.resolved
echo "    the Swift toolchain's runtime and Foundation (https://swift.org)"
for directory in ${checkouts:+"$checkouts"/*}; do
    for file in "$directory"/{LICEN[CS]E*,NOTICE*,COPYING*}; do
        [ ! -f "$file" ] || note "$(basename "$directory")" "$file"
    done
done
toolchain=$(command -v "${SWIFT:-swift}" || true)
toolchain=${toolchain:+$(dirname "$(readlink -f "$toolchain")")/../share/swift/LICENSE.txt}
[ ! -f "$toolchain" ] || note "the Swift toolchain" "$toolchain"
for text in "$texts"/*.text; do
    [ -f "$text" ] || continue
    printf '\n\n================================================================================\n'
    printf '%s\n' "Of $(sort -u "${text%.text}.names" | paste -sd , | sed 's/,/, /g'):" | fold -s -w 100
    printf -- '--------------------------------------------------------------------------------\n\n'
    cat "$text"
done
