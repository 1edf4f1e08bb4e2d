#!/usr/bin/env bash
# The coordinator's HTTP, tried by others' tools: the OpenAPI file is validated, a schema-driven tester (schemathesis) sends it what it
# describes and what it does not, Prometheus' parser reads /metrics, and the queries of deploy/grafana-dashboard.json find there what they ask for.
#   scripts/check-api.sh [AOP]
# Says what it has skipped where PyPI cannot be had. EXAMPLES=n: requests per operation of the API (default 20).
set -euo pipefail
cd "$(dirname "$0")/.."
aop=$(realpath "${1:-.build/debug/aop}")
. scripts/python-tools.sh
files=$(mktemp -d "${TMPDIR:-/tmp}/aop-api-XXXXXX")
pids=()
end() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$files"
}
trap end EXIT
export HOME="$files" XDG_STATE_HOME="$files/state" AOP_CONFIG=/dev/null AOP_COORDINATOR="ipc://$files/aop.sock"

"$aop" coordinator --listen "$AOP_COORDINATOR" --http 127.0.0.1:0 --data "$files/data" -o json >"$files/said" 2>"$files/coordinator.log" &
pids+=($!)
for _ in $(seq 200); do [ -s "$files/said" ] && break; sleep 0.1; done
address=$(sed -E 's/.*"http":"([^"]+)".*/\1/' "$files/said")
token=$(cat "$(sed -E 's/.*"httpToken":"([^"]+)".*/\1/' "$files/said")")
"$aop" worker --connect "$AOP_COORDINATOR" --slots 2 >"$files/worker.log" 2>&1 &
pids+=($!)
printf 'name: sample\nordered:\n  - {id: one, run: echo 1, exclusive: key}\n  - {id: two, run: "exit 3"}\n' >"$files/graph.yaml"
"$aop" submit "$files/graph.yaml" --wait >/dev/null 2>&1 || true

python_tools prometheus_client
if [ -n "$PYTHON" ]; then
    # Requests are counted when they have been answered.
    curl --silent --show-error --fail --output /dev/null "http://$address/metrics"
    curl --silent --show-error --fail "http://$address/metrics" >"$files/metrics"
    "$PYTHON" Tests/Browser/metrics.py docs/monitoring.md <"$files/metrics"
    "$PYTHON" Tests/Browser/grafana.py deploy/grafana-dashboard.json <"$files/metrics"
fi

python_tools schemathesis openapi-spec-validator
if [ -n "$PYTHON" ]; then
    curl --silent --show-error --fail "http://$address/api/v1/openapi.json" >"$files/openapi.json"
    "$PYTHON" -m openapi_spec_validator "$files/openapi.json"
    # Streams do not end, which its requests wait for. A key may be unknown, or used for another graph: what is sent makes no difference.
    (cd "$files" && PATH="$(dirname "$PYTHON"):$PATH" schemathesis run "$files/openapi.json" --url "http://$address" \
        --header "Authorization: Bearer $token" --exclude-path-regex 'events$' \
        --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance,negative_data_rejection,missing_required_header,unsupported_method \
        --max-examples "${EXAMPLES:-20}" --seed 1 --workers 1 --request-timeout 20 --no-color)
fi
