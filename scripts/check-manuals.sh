#!/usr/bin/env bash
# The manual pages and the completions of a binary: that they can be made, that the pages are sound and name all that the help names,
# and that each shell completes with them; and that the tour knows each command. What is not installed (mandoc, groff, zsh, fish) is said and left out.
#
#   check-manuals.sh BINARY
set -euo pipefail
binary=$(realpath "${1:?usage: check-manuals.sh BINARY}")
cd "$(dirname "$0")/.."
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
fail() { echo "check-manuals: $*" >&2; exit 1; }
# Each command has its place in the tour, which runs much later.
python3 scripts/tour/whole.py "$binary" docs/tour.md || fail "scripts/tour/tour.py lacks a command"
scripts/install-manuals.sh "$binary" "$files"
manuals=$files/share/man/man1
gunzip "$manuals"/*.gz

# Every command that the help names has a page, and every page what its help has.
commands=$("$binary" --help | sed -n '/^SUBCOMMANDS:/,$ s/^  \([a-z]\{1,\}\) .*/\1/p')
for command in $commands; do [ -f "$manuals/aop-$command.1" ] || fail "there is no page of aop $command"; done
[ "$(ls "$manuals" | wc -l)" -gt "$(wc -w <<<"$commands")" ] || fail "pages of the commands of commands are missing"
grep -q '\\-\\-slots' "$manuals/aop-worker.1" || fail "aop-worker.1 does not name --slots"
grep -q '^\.SH EXAMPLES' "$manuals/aop-watch.1" || fail "aop-watch.1 has no examples"
grep -q 'no coordinator reachable' "$manuals/aop.1" || fail "aop.1 does not name the exit codes"
if grep -lE 'private..-directory|/root|/home/' "$manuals"/* | grep .; then fail "these pages name what is hidden, or of this machine"; fi
if command -v mandoc >/dev/null; then
    mandoc -Tlint -W warning "$manuals"/*.1 || fail "mandoc warns"
    echo "$(ls "$manuals" | wc -l) manual pages: mandoc has no warning"
else
    echo "SKIPPED: mandoc is not installed"
fi
if command -v groff >/dev/null; then
    for page in "$manuals"/*.1; do
        messages=$(groff -man -Tutf8 -ww -K utf8 "$page" 2>&1 >/dev/null) || fail "groff cannot set $page"
        [ -z "$messages" ] || fail "$messages"
    done
    groff -man -Tutf8 -K utf8 "$manuals/aop-submit.1" | grep -q 'aop submit' || fail "aop-submit.1 does not show its command"
else
    echo "SKIPPED: groff is not installed"
fi

# What each shell offers for `aop wa`, and for a value that is one of some.
expect() {
    local shell=$1 offered=$2
    shift 2
    for word in "$@"; do grep -qw -- "$word" <<<"$offered" || fail "$shell does not offer $word, but: $offered"; done
    if grep -qw executor <<<"$offered"; then fail "$shell offers what is hidden"; fi
    echo "$shell completes"
}
mkdir "$files/bin"
ln -s "$binary" "$files/bin/aop"
export PATH=$files/bin:$PATH
offered=$(bash --norc -c '
    source "$1"
    # As the line editor does.
    complete_line() {
        COMP_LINE=$1; COMP_POINT=${#1}; read -ra COMP_WORDS <<<"$1"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
        "$(complete -p aop | sed "s/.*-F \([^ ]*\) .*/\1/")" aop "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"
    }
    complete_line "aop wa"
    complete_line "aop list --output j"
    complete_line "aop keys g"
' bash "$files/share/bash-completion/completions/aop")
expect bash "$offered" wait watch json jsonl generate
if command -v fish >/dev/null; then
    offered=$(HOME=$files fish --no-config -c '
        source $argv[1]
        complete -C "aop wa"; complete -C "aop list --output j"; complete -C "aop keys g"
    ' "$files/share/fish/vendor_completions.d/aop.fish")
    expect fish "$offered" wait watch json jsonl generate
else
    echo "SKIPPED: fish is not installed"
fi
if command -v zsh >/dev/null; then
    # A shell on a terminal, in which Tab is typed.
    cat >"$files/type.zsh" <<'END'
zmodload zsh/zpty
# Reads until the shell has been silent for some time.
drain() {
    local part quiet=0
    while ((quiet < 10)); do
        if zpty -r -t shell part; then print -rn -- "$part"; quiet=0; else quiet=$((quiet + 1)); sleep 0.1; fi
    done
}
zpty shell 'TERM=dumb PS1= zsh -f -i'
zpty -w shell "fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -u -D; LISTMAX=10000; print rea''dy"
while zpty -r shell line; do [[ $line == *ready* ]] && break; done
for line in 'aop wa' 'aop list --output j' 'aop keys g'; do
    zpty -w -n shell "$line"$'\t\t'
    drain
    zpty -w -n shell $'\x15'
    drain
done
zpty -d shell
END
    offered=$(HOME=$files timeout 120 zsh -f "$files/type.zsh" "$files/share/zsh/vendor-completions" 2>&1)
    expect zsh "$offered" wait watch json jsonl generate
else
    echo "SKIPPED: zsh is not installed"
fi
