#!/bin/sh
# A graph of a million units is admitted, run, and survives the death of its coordinator in the middle, within the first targets: admitted in
# 15 s, 600 bytes of memory for each unit, 15 s until the next coordinator has told of an end. The machine is to have nothing else to do.
#
# Usage: scripts/check-scale.sh AOP [UNITS]
set -eu
aop=$1
units=${2:-1000000}
"$aop" bench W8 --n "$units" --repeat 1 -o json | python3 -c '
import json, sys
row = next(r for r in json.load(sys.stdin)["workloads"] if r["id"] == "W8")
failed = False
for key, most, unit in [("admissionSeconds", 15, "s"), ("bytesPerUnit", 600, "bytes"), ("restartSeconds", 15, "s")]:
    late = row[key] > most
    failed |= late
    print("%s: %.2f %s, at most %d%s" % (key, row[key], unit, most, ": MISSED" if late else ""))
sys.exit(failed)
'
