#!/usr/bin/env bash
# The Debian package, in containers: installs, runs as services with their sandboxing on, stops, is removed and purged.
#
#   check-deb.sh PACKAGE.deb
#   check-deb.sh --test BINARY     makes the package for tests around a binary that is there (build-deb.sh --test), if it can be tried
#
# Where no engine answers, or systemd cannot be run in a container, it says what was skipped, and why.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/compose.sh
package=${1:?usage: check-deb.sh PACKAGE.deb, or check-deb.sh --test BINARY}
reason=$(why_no_engine)
if [ -z "$reason" ] && ! docker image inspect debian:bookworm-slim >/dev/null 2>&1 && ! docker pull -q debian:bookworm-slim >/dev/null 2>&1; then
    reason="the image debian:bookworm-slim is not here and cannot be fetched"
fi
if [ -n "$reason" ]; then
    echo "skipped: the Debian package ($reason)"
    exit 0
fi
if [ "$package" = --test ]; then
    messages=$(mktemp)
    package=$(scripts/build-deb.sh --test "${2:?usage: check-deb.sh --test BINARY}" 2>"$messages") || {
        cat "$messages" >&2
        rm -f "$messages"
        exit 1
    }
    rm -f "$messages"
fi
name=aop-deb-$$
files=$(mktemp -d)
trap 'docker rm -f "$name" >/dev/null 2>&1; docker image rm "$name" >/dev/null 2>&1; rm -rf "$files"' EXIT
fail() {
    echo "check-deb: $*" >&2
    docker exec "$name" journalctl --no-pager -n 60 >&2 2>/dev/null || true
    exit 1
}
# Reads to the end, unlike `grep -q`, which may end what it reads from.
has() { grep "$@" >/dev/null; }
in_it() { docker exec "$name" "$@"; }
# journal_has PRIORITY UNIT TEXT
journal_has() { in_it journalctl --no-pager -p "$1" -u "$2" | has -i "$3"; }
until_true() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || fail "$what has not come about in time"
        sleep 0.5
    done
}
cp "$package" "$files/aop.deb"
# A slim image leaves manual pages out when it installs.
for file in man/man1/aop.1.gz man/man1/aop-keys-init.1.gz bash-completion/completions/aop zsh/vendor-completions/_aop \
    fish/vendor_completions.d/aop.fish; do
    dpkg-deb -c "$package" | has "^-rw-r--r-- .* \./usr/share/$file\$" || fail "the package has no /usr/share/$file, or not for all to read"
done

echo "it installs, and removes and purges all of itself, where there is no systemd"
docker run --rm -v "$files:/package:ro" debian:bookworm-slim sh -euc '
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends /package/aop.deb >/dev/null 2>&1
    aop --version
    [ -s /usr/share/doc/aop/copyright ]
    [ "$(stat -c "%U %a" /etc/aop/coordinator)" = "aop 700" ] && [ "$(stat -c "%U %a" /etc/aop/worker)" = "aop-worker 700" ]
    aop config show >/dev/null 2>&1
    echo "slots: 3" >>/etc/aop/config.yaml
    dpkg -r aop >/dev/null 2>&1
    grep -q "slots: 3" /etc/aop/config.yaml && ! command -v aop >/dev/null
    dpkg -P aop >/dev/null 2>&1
    [ ! -e /etc/aop ] && [ ! -e /usr/share/doc/aop ]' || fail "installing or removing it"

cat >"$files/Dockerfile" <<'END'
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends systemd systemd-sysv dbus && rm -rf /var/lib/apt/lists/*
COPY aop.deb /
RUN apt-get update && apt-get install -y --no-install-recommends /aop.deb && rm -rf /var/lib/apt/lists/*
END
docker build -q -t "$name" "$files" >/dev/null 2>&1 || fail "the image with systemd cannot be made"

# What systemd needs of a container: more than it should have anywhere but in a test.
boot() { docker run -d --name "$name" --tmpfs /run --tmpfs /run/lock --tmpfs /tmp -e container=docker "$@" "$name" /sbin/init >/dev/null 2>&1; }
boot_privileged() { boot --privileged --cgroupns=private || boot --privileged; }
boot_with_capabilities() {
    local capabilities=()
    for capability in SYS_ADMIN NET_ADMIN SYS_PTRACE SYS_NICE DAC_READ_SEARCH LINUX_IMMUTABLE IPC_LOCK LEASE SYSLOG AUDIT_CONTROL; do
        capabilities+=(--cap-add "$capability")
    done
    boot "${capabilities[@]}" --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
        -v /sys/fs/cgroup/systemd:/sys/fs/cgroup/systemd
}
boots() {
    local end=$((SECONDS + 20))
    until in_it systemctl is-system-running 2>/dev/null | has -E 'running|degraded'; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.5
    done
}
for how in boot_privileged boot_with_capabilities; do
    if $how && boots; then booted=yes && break; fi
    docker rm -f "$name" >/dev/null 2>&1 || true
done
if [ -z "${booted:-}" ]; then
    echo "skipped: the services (systemd cannot be run in a container of this engine)"
    exit 0
fi

echo "the units are sound"
in_it systemd-analyze verify aop-coordinator.service aop-worker.service || fail "systemd-analyze verify"

echo "without keys a coordinator says so, and is not tried again"
in_it systemctl start aop-coordinator.service >/dev/null 2>&1 && fail "it started without keys"
in_it systemctl show -p ExecMainStatus --value aop-coordinator.service | has -x 77 || fail "it did not exit with 77"
until_true 10 "what to do, in the journal," journal_has err aop-coordinator.service 'aop keys init'

echo "with keys both start with their sandboxing on, and commands run"
in_it runuser -u aop -- aop keys init --dir /etc/aop/coordinator -o quiet >/dev/null
in_it install -m 600 -o aop-worker -g aop-worker /etc/aop/coordinator/worker.key /etc/aop/worker/
in_it systemctl reset-failed
in_it systemctl enable --now aop-coordinator.service aop-worker.service >/dev/null 2>&1 || fail "systemctl enable --now"
in_it systemctl status aop-coordinator.service | has 'Status: "listening on' || fail "the coordinator does not notify"
until_true 20 "the worker's status" sh -c "docker exec $name systemctl status aop-worker.service | grep -q 'Status: \"attached to'"
admin() { docker exec -i "$name" runuser -u aop -- aop "$@" --keys /etc/aop/coordinator; }
run_graph() { printf 'name: probe\ngroup:\n  - id: probe\n    run: |\n      %s\n' "$1" | admin submit - --wait -o json; }
expect() {
    run_graph "$1" >"$files/answer" 2>"$files/errors" || fail "the command $1: $(cat "$files/answer" "$files/errors")"
    grep -qF "$2" "$files/answer" || fail "the command $1: $(cat "$files/answer")"
}
expect 'id -un' 'aop-worker'
expect 'touch /usr/x /etc/x 2>/dev/null || echo read-only' 'read-only'
expect 'touch here /tmp/there /var/lib/aop-worker/there && echo written' 'written'
expect 'cat /etc/aop/coordinator/admin.key 2>/dev/null || echo secret' 'secret'
expect 'grep NoNewPrivs /proc/self/status | tr "\t" " "' 'NoNewPrivs: 1'
token=$(in_it runuser -u aop -- aop keys token joiner --dir /etc/aop/coordinator --endpoint tcp://127.0.0.1:7600 -o quiet)
in_it runuser -u aop-worker -- aop keys join "$token" --dir /var/lib/aop-worker/joined -o quiet >/dev/null || fail "joining with a token"
in_it test ! -e /tmp/there || fail "the worker has no /tmp of its own"

echo "a worker that is not let in does not start, and does when its key is authorised"
in_it mkdir -p /run/systemd/system/aop-worker.service.d
in_it sh -c 'printf "[Service]\nTimeoutStartSec=5\n" >/run/systemd/system/aop-worker.service.d/soon.conf'
in_it systemctl daemon-reload
in_it runuser -u aop -- aop keys revoke worker --dir /etc/aop/coordinator >/dev/null
in_it systemctl restart aop-worker.service >/dev/null 2>&1 && fail "a worker with a revoked key has started"
until_true 20 "its status" sh -c "docker exec $name systemctl status aop-worker.service | grep -q 'Status: \"not let in since'"
in_it runuser -u aop -- aop keys authorize worker --role work --dir /etc/aop/coordinator >/dev/null
until_true 30 "an active worker" docker exec "$name" systemctl is-active aop-worker.service
in_it rm -r /run/systemd/system/aop-worker.service.d
in_it systemctl daemon-reload
expect 'echo let in' 'let in'

echo "what crashes is started again"
for unit in aop-coordinator aop-worker; do
    before=$(in_it systemctl show -p MainPID --value $unit.service)
    in_it kill -9 "$before"
    until_true 20 "another $unit" sh -c "pid=\$(docker exec $name systemctl show -p MainPID --value $unit.service); [ \$pid != 0 ] && [ \$pid != $before ]"
    until_true 20 "an active $unit" docker exec "$name" systemctl is-active "$unit.service"
done
expect 'echo again' 'again'

echo "a supervisor that hangs is replaced"
in_it mkdir -p /run/systemd/system/aop-worker.service.d
in_it sh -c 'printf "[Service]\nWatchdogSec=3\n" >/run/systemd/system/aop-worker.service.d/soon.conf'
in_it systemctl daemon-reload
in_it systemctl restart aop-worker.service
before=$(in_it systemctl show -p MainPID --value aop-worker.service)
in_it kill -STOP "$before"
until_true 40 "another aop-worker" sh -c "pid=\$(docker exec $name systemctl show -p MainPID --value aop-worker.service); [ \$pid != 0 ] && [ \$pid != $before ]"
until_true 10 "the watchdog's line in the journal" journal_has info aop-worker.service 'watchdog timeout'
in_it rm -r /run/systemd/system/aop-worker.service.d
in_it systemctl daemon-reload
in_it systemctl restart aop-worker.service
expect 'echo after the watchdog' 'after the watchdog'

echo "what runs ends before the worker does"
id=$(printf 'group: [{id: slow, run: "sleep 3; echo done"}]\n' | admin submit - -o quiet)
until_true 20 "the slow command runs" sh -c "docker exec $name runuser -u aop -- aop show $id -o json --keys /etc/aop/coordinator | grep -q '\"state\":\"running\",.*slow\|slow.*\"state\":\"running\"'"
in_it systemctl restart aop-worker.service
admin wait "$id" >"$files/answer" 2>&1 || fail "what ran when the worker was stopped: $(cat "$files/answer")"
admin show "$id" -o json | has '"attempts":1\b' || fail "what ran when the worker was stopped has run twice"

echo "a coordinator that is gone is in the worker's status"
in_it systemctl stop aop-coordinator.service
until_true 30 "the worker's status" sh -c "docker exec $name systemctl status aop-worker.service | grep -q 'Status: \"no coordinator at'"
in_it systemctl start aop-coordinator.service
until_true 30 "the worker's status" sh -c "docker exec $name systemctl status aop-worker.service | grep -q 'Status: \"attached to'"

echo "they stop in order, and leave no process"
in_it systemctl stop aop-worker.service aop-coordinator.service
for unit in aop-coordinator aop-worker; do
    in_it systemctl show -p Result --value $unit.service | has -x success || fail "$unit did not stop in order"
done
[ -z "$(in_it pgrep -f /usr/bin/aop || true)" ] || fail "a process is left"

echo "it is upgraded, removed and purged"
in_it systemctl start aop-coordinator.service
before=$(in_it systemctl show -p MainPID --value aop-coordinator.service)
in_it dpkg -i /aop.deb >/dev/null 2>&1 || fail "installing it again"
[ "$(in_it systemctl show -p MainPID --value aop-coordinator.service)" != "$before" ] || fail "what runs has not been restarted"
in_it systemctl is-active --quiet aop-coordinator.service || fail "it does not run after the upgrade"
in_it dpkg -r aop >/dev/null 2>&1 || fail "dpkg -r"
in_it test -e /etc/aop/coordinator/coordinator.key || fail "its removal took the keys along"
in_it systemctl is-active aop-coordinator.service >/dev/null && fail "it runs on after its removal"
in_it dpkg -P aop >/dev/null 2>&1 || fail "dpkg -P"
for path in /etc/aop /var/lib/aop /var/lib/aop-worker /usr/bin/aop; do in_it test ! -e $path || fail "$path is left"; done
echo "the Debian package installs, serves and goes"
