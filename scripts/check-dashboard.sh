#!/usr/bin/env bash
# The dashboard in a real Chromium (Debian: chromium), driven by playwright (PyPI): live counts, the graph of 2,000 operations, logs,
# cancelling with and without the token, a narrow screen; with screenshots.
#   scripts/check-dashboard.sh [AOP] [SCREENSHOTS]
# Says so where it is skipped, because one of them cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
aop=$(realpath "${1:-.build/debug/aop}")
shots=${2:-.build/screenshots}
chromium=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$chromium" ]; then
    echo "SKIPPED: there is no Chromium here (Debian: apt-get install chromium); the dashboard was not tried"
    exit 0
fi
. scripts/python-tools.sh
python_tools playwright
[ -n "$PYTHON" ] || exit 0
mkdir -p "$shots"
CHROMIUM="$chromium" "$PYTHON" Tests/Browser/dashboard.py "$aop" "$shots"
echo "screenshots: $shots"
