#!/usr/bin/env bash
# Installs the system packages that building and running needs, if they are missing (Debian and its kin).
# Arguments: further packages.
set -euo pipefail
packages=(libzmq3-dev libsqlite3-dev pkg-config "$@")
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if ! command -v swift >/dev/null; then
    echo "swift is missing: install Swift 6.2 or later (https://www.swift.org/install/linux) and put it on PATH" >&2
    exit 69
fi
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing ${missing[*]}" >&2
if [ "$(id -u)" -eq 0 ]; then
    as_root=()
elif command -v sudo >/dev/null; then
    as_root=(sudo)
else
    echo "missing packages: ${missing[*]}; run as root: apt-get install ${missing[*]}" >&2
    exit 77
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
