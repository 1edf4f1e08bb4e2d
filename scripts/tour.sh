#!/usr/bin/env bash
# The tour: every command and screen on a run of 5,000 operations, with failures, locks and killed processes in it. Writes docs/tour.md
# and its pictures, and fails where something is not as the document says.
#   scripts/tour.sh [AOP] [DOCUMENTS]     DOCUMENTS: where tour.md and images/ are written, docs by default
# Without Chromium (Debian: chromium), or playwright and Pillow (PyPI), the pictures stay as they are, which it says.
set -euo pipefail
cd "$(dirname "$0")/.."
aop=$(realpath -m "${1:-.build/release/aop}")
[ -x "$aop" ] || { echo "there is no program $aop; make build makes .build/release/aop" >&2; exit 1; }
documents=${2:-docs}
python=python3
export CHROMIUM
CHROMIUM=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$CHROMIUM" ]; then
    echo "there is no Chromium here (Debian: apt-get install chromium): the pictures stay as they are"
else
    . scripts/python-tools.sh
    python_tools playwright pillow
    if [ -n "$PYTHON" ]; then
        python=$PYTHON
    else
        CHROMIUM=""
        echo "the pictures stay as they are"
    fi
fi
export PYTHONDONTWRITEBYTECODE=1
"$python" scripts/tour/tour.py "$aop" "$documents"
