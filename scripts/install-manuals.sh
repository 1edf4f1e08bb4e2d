#!/usr/bin/env bash
# Puts the manual pages of aop, and completions for bash, zsh and fish, where systems look for them under a prefix.
#
#   install-manuals.sh BINARY PREFIX     e.g. install-manuals.sh .build/release/aop ~/.local
#
# They are made from the help of the binary.
set -euo pipefail
umask 022
binary=$(realpath "${1:?usage: install-manuals.sh BINARY PREFIX}")
prefix=${2:?usage: install-manuals.sh BINARY PREFIX}
cd "$(dirname "$0")/.."
# What a configuration says would be told as the defaults.
help() { env -i PATH="$PATH" HOME=/nonexistent AOP_CONFIG=/dev/null "$binary" "$@"; }
version=$(help --version | awk '{print $2}')
date=$(date -u ${SOURCE_DATE_EPOCH:+-d "@$SOURCE_DATE_EPOCH"} +%F)
manuals=$prefix/share/man/man1
rm -f "$manuals"/aop.1.gz "$manuals"/aop-*.1.gz
help --experimental-dump-help | scripts/man-pages.py "$manuals" "$version" "$date" | xargs gzip -9nf
completion() {
    mkdir -p "$(dirname "$prefix/share/$2")"
    help --generate-completion-script "$1" >"$prefix/share/$2"
}
completion bash bash-completion/completions/aop
completion zsh zsh/vendor-completions/_aop
completion fish fish/vendor_completions.d/aop.fish
