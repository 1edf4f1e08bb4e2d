#!/usr/bin/env bash
# The acceptance test of the cluster in containers (deploy/compose.yml): four workers, a right answer, kills of workers and of the
# coordinator during work, and nothing left at the end.
#
#   check-cluster.sh [BINARY]     around a binary that is there; without one the image is made from source
#
# Where no engine answers it says that it was skipped, and why, and succeeds. What it makes has a name of its own, and is removed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/compose.sh
# What the image is built from is in a fresh clone, too.
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    for file in $(sed -n 's/^COPY \(--[^ ]* \)*\(.*\) [^ ]*$/\2/p' deploy/Dockerfile | tr ' ' '\n' | grep -v -e '^\.$' -e '^/' -e '\['); do
        if [ -z "$(git ls-files "$file")" ]; then
            echo "check-cluster: deploy/Dockerfile copies $file, which is not in the repository" >&2
            exit 1
        fi
    done
fi
reason=$(why_no_engine)
if [ -z "$reason" ] && ! docker image inspect debian:bookworm-slim >/dev/null 2>&1 && ! docker pull -q debian:bookworm-slim >/dev/null 2>&1; then
    reason="the image debian:bookworm-slim is not here and cannot be fetched"
fi
if [ -n "$reason" ]; then
    echo "skipped: the cluster in containers ($reason)"
    exit 0
fi

project=aop-check-$$
export AOP_IMAGE=aop-check:$$
export AOP_HTTP_PORT=0   # a free one
files=$(mktemp -d)
fail() {
    echo "check-cluster: $*" >&2
    for log in "$files"/*; do echo "--- $log" && tail -n 40 "$log"; done >&2
    compose "$project" logs --tail 40 >&2 || true
    exit 1
}
clean_up() {
    trap - EXIT INT TERM
    compose "$project" down --volumes --remove-orphans >"$files/down" 2>&1 || true
    docker ps -aq --filter "label=com.docker.compose.project=$project" | xargs -r docker rm -fv >/dev/null 2>&1 || true
    docker image rm "$AOP_IMAGE" >/dev/null 2>&1 || true
    rm -rf "$files"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# until_true SECONDS WHAT COMMAND …
until_true() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "$what has not come about in time"
        sleep 0.5
    done
}
submit() { compose "$project" run --rm --no-deps -T submit "$@"; }
admin() { docker exec "$(containers "$project" coordinator)" aop "$@"; }
workers_attached() { [ "$(admin workers -o json 2>/dev/null | grep -o '"state":"attached"' | wc -l)" -eq "$1" ]; }
is_running() { [ "$(containers "$project" "$1" | wc -l)" -eq "$2" ]; }
counts() { admin show last -o json --operations none 2>/dev/null | grep -qE "\"$1\":$2\b"; }

echo "the two Dockerfiles make the same image of what they are given"
diff <(sed -n '/^FROM debian/,$p' deploy/Dockerfile | grep -v ^COPY) <(sed -n '/^FROM debian/,$p' deploy/Dockerfile.binary | grep -v ^COPY) \
    || fail "deploy/Dockerfile and deploy/Dockerfile.binary differ"

echo "a coordinator and four workers"
scripts/container-image.sh "$AOP_IMAGE" "$@" >"$files/image" 2>&1 || fail "the image cannot be made"
compose "$project" up -d --scale worker=4 >"$files/up" 2>&1 || fail "compose up"
until_true 60 "four attached workers" workers_attached 4

echo "coordinator and workers are healthy, also a worker that is run by itself"
health() { docker inspect -f '{{.State.Health.Status}}' "$@" | sort -u; }
are_healthy() { [ "$(health "$@")" = healthy ]; }
# Over loopback, where nobody is, it needs no key and tries on.
docker run -d --name "$project-alone" --network none --label "com.docker.compose.project=$project" -e AOP_KEYS= "$AOP_IMAGE" \
    worker --connect tcp://127.0.0.1:7600 >/dev/null || fail "a worker without compose"
until_true 60 "healthy containers" are_healthy "$project-alone" $(containers "$project" coordinator) $(containers "$project" worker)
docker rm -f "$project-alone" >/dev/null

echo "the dashboard is there for this host, and its data for who has the token"
dashboard=http://$(compose "$project" port coordinator 7601)
token=$(docker exec "$(containers "$project" coordinator)" cat /var/lib/aop/http-token) || fail "no token for the dashboard"
curl -fsS --noproxy '*' "$dashboard/" 2>"$files/dashboard" | grep -q '<html' || fail "no dashboard at $dashboard"
curl -sS --noproxy '*' -o /dev/null -w '%{http_code}' "$dashboard/api/v1/workers" 2>"$files/dashboard" | grep -qx 401 \
    || fail "who has no token is told of the workers"
curl -fsS --noproxy '*' -H "Authorization: Bearer $token" "$dashboard/api/v1/workers" 2>"$files/dashboard" | grep -q '"state":"attached"' \
    || fail "the token is of no use"

echo "the word count, from a fifth container"
expected=$(docker run --rm --entrypoint sh "$AOP_IMAGE" -c 'find /usr/share/common-licenses -type f -exec cat {} + | wc -w')
[ "$expected" -gt 10000 ] || fail "the image has only $expected words of licence texts"
answer=$(submit submit - --wait -o quiet <examples/word-count.yaml 2>"$files/first") || fail "the word count"
[ "$answer" = "$expected" ] || fail "the word count says $answer, and not $expected"

echo "each has only its own key"
for service in worker submit; do
    keys=$(compose "$project" run --rm --no-deps -T --entrypoint ls "$service" -A /etc/aop/keys 2>>"$files/keys")
    [ "$keys" = "$service.key" ] || fail "$service has the keys: $keys"
done
status=0
submit workers --key-file /etc/aop/keys/none.key >"$files/none" 2>&1 || status=$?
[ "$status" -eq 77 ] || fail "without a key the exit code is $status, and not 77"

echo "two workers and the coordinator are killed while it counts"
# Nothing is counted before there is a file /tmp/go.
gated=$(sed 's/run: wc -w/run: until [ -e \/tmp\/go ]; do sleep 0.2; done; wc -w/; s/^name: .*/name: gated-count/' examples/word-count.yaml)
submit submit - --wait -o quiet <<<"$gated" >"$files/answer" 2>"$files/second" &
waiting=$!
until_true 60 "work on every worker" counts running 8
killed=$(containers "$project" worker | head -2)
docker kill $killed "$(containers "$project" coordinator)" >/dev/null
until_true 20 "the end of what was killed" is_running coordinator 0
# The engine takes a kill for the wish that it stays down; compose starts what is not there.
compose "$project" up -d --scale worker=4 >"$files/again" 2>&1 || fail "compose up, after the kill"
until_true 60 "four workers after the kill" workers_attached 4
until_true 60 "all work on workers again" counts running 8

echo "the coordinator and a worker crash, and are started again by themselves"
docker exec "$(containers "$project" worker | tail -1)" sh -c 'kill -9 $(pidof aop)' || true
docker exec "$(containers "$project" coordinator)" sh -c 'kill -9 $(pidof aop)' || true
until_true 60 "four workers after the crash" workers_attached 4
until_true 60 "all work on workers once more" counts running 8

echo "the work ends, with the right answer"
for worker in $(containers "$project" worker); do docker exec "$worker" touch /tmp/go; done
wait "$waiting" || fail "the count ended with $?"
[ "$(cat "$files/answer")" = "$expected" ] || fail "the count says $(cat "$files/answer"), and not $expected"
[ "$(submit result last -o quiet 2>>"$files/second")" = "$expected" ] || fail "the result that was kept is another one"
admin show last -o json >"$files/show"
grep -q '"attempts":[2-9]' "$files/show" || fail "nothing was tried again: what was killed had no work"

echo "it comes down, and leaves nothing"
compose "$project" down --volumes >"$files/down" 2>&1 || fail "compose down"
[ -z "$(remains "$project")" ] || fail "left over: $(remains "$project")"
echo "the cluster in containers counts $expected words, whoever dies"
