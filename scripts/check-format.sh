#!/usr/bin/env bash
# Every source file of ours is in the project's format (.swift-format). `make format` puts it there.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.swift' | grep -v /Generated/ | xargs swift format lint --strict --parallel
echo "all sources are in the project's format"
