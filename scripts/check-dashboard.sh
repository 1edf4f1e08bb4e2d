#!/usr/bin/env bash
# The dashboard in a real Chromium (Debian: chromium), driven by playwright (PyPI): live counts and rates, the graph of 2,000 operations,
# failures, logs, progress, the timeline, cancel, pause and retry with and without the token, light and dark, a phone, the keyboard; with
# screenshots.
#   scripts/check-dashboard.sh [AOP] [SCREENSHOTS] [IMAGES]
# The pictures in docs/dashboard.md are of this run: with IMAGES (docs/images) they are written anew.
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
python_tools playwright pillow
[ -n "$PYTHON" ] || exit 0
mkdir -p "$shots"
export PYTHONDONTWRITEBYTECODE=1
CHROMIUM="$chromium" "$PYTHON" Tests/Browser/dashboard.py "$aop" "$shots" docs/dashboard.md ${3:+"$3"}
echo "screenshots: $shots"
