"""Reads metrics from standard input with Prometheus' own parser, and checks that what docs/monitoring.md names is there.

Usage: curl …/metrics | metrics.py docs/monitoring.md
"""

import re
import sys

from prometheus_client.parser import text_string_to_metric_families

families = {family.name: family for family in text_string_to_metric_families(sys.stdin.read())}
assert families, "no metric was found"
for family in families.values():
    assert family.type in ("counter", "gauge", "histogram"), (family.name, family.type)
    assert family.documentation, f"{family.name} has no help"
    if family.type != "histogram":
        continue
    for labels in {tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le")) for sample in family.samples}:
        of = lambda suffix: [s for s in family.samples if s.name == family.name + suffix and tuple(sorted((k, v) for k, v in s.labels.items() if k != "le")) == labels]
        buckets = [sample.value for sample in of("_bucket")]
        assert buckets == sorted(buckets) and buckets[-1] == of("_count")[0].value, family.name
# Its other tables are of other things.
documented = set(re.findall(r"^\| `((?:aop|process)_[a-z_]+)", open(sys.argv[1]).read(), re.M))
present = {name + "_total" if family.type == "counter" else name for name, family in families.items()}
# Not there before the first snapshot.
missing = documented - present - {"aop_journal_snapshot_age_seconds"}
assert not missing, f"documented, but not there: {missing}"
unknown = present - documented
assert not unknown, f"there, but not documented: {unknown}"
print(f"{len(families)} metrics, {sum(len(f.samples) for f in families.values())} samples: read by prometheus_client, all documented")
