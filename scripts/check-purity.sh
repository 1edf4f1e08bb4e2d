#!/usr/bin/env bash
# The scheduler is pure: Sources/Scheduling may import these modules and no others, and may not ask for time,
# randomness or the environment.
set -euo pipefail
cd "$(dirname "$0")/.."
allowed='^(DequeModule|HeapModule)$'
bad=$(grep -rhoE '^[[:space:]]*(public |internal |package |private |fileprivate |@[a-zA-Z_]+ )*import [A-Za-z_.]+' Sources/Scheduling \
    | awk '{print $NF}' | sort -u | grep -vE "$allowed" || true)
if [ -n "$bad" ]; then
    echo "Sources/Scheduling imports what it may not: $bad" >&2
    exit 1
fi
if grep -rnE '\b(SystemRandomNumberGenerator|ContinuousClock|SuspendingClock|Date\(|\.random\(|\.randomElement|\.shuffle|hashValue)\b' Sources/Scheduling; then
    echo "Sources/Scheduling asks for time, randomness or hash order" >&2
    exit 1
fi
echo "Sources/Scheduling is pure"
