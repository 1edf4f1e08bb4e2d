#!/usr/bin/env bash
# A cluster in containers on this machine: a coordinator, four workers (WORKERS=n: another number), and a graph through it.
#
#   cluster.sh up        AOP_BINARY=FILE: around this binary, instead of one that is built; AOP_HTTP_PORT=n: the dashboard's port
#                        on this host (default 7601; 0: a free one)
#   cluster.sh down      removes it: containers, network, volumes with its keys and journal, image
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/compose.sh
project=${COMPOSE_PROJECT_NAME:-aop}
export AOP_IMAGE=${AOP_IMAGE:-aop}
reason=$(why_no_engine)
if [ -n "$reason" ]; then
    echo "cluster.sh: $reason" >&2
    exit 69
fi

case ${1:-} in
up)
    scripts/container-image.sh "$AOP_IMAGE" ${AOP_BINARY:+"$AOP_BINARY"}
    compose "$project" up -d --scale "worker=${WORKERS:-4}"
    echo "counting the words of the licence texts, from a container of its own:"
    compose "$project" run --rm --no-deps -T submit submit - --wait <examples/word-count.yaml
    coordinator="docker exec \$(docker ps -q -f label=com.docker.compose.project=$project -f label=com.docker.compose.service=coordinator)"
    echo "it runs on; \`make cluster-down\` removes it. See also:"
    echo "  $coordinator aop show last"
    echo "  http://$(compose "$project" port coordinator 7601), the dashboard, which asks for the token:"
    echo "  $coordinator cat /var/lib/aop/http-token"
    ;;
down)
    compose "$project" down --volumes --remove-orphans
    docker image rm "$AOP_IMAGE" >/dev/null 2>&1 || true
    ;;
*)
    sed -n '2,7p' "$0"
    exit 64
    ;;
esac
