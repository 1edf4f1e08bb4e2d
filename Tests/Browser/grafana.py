"""Checks deploy/grafana-dashboard.json against the metrics of a coordinator that has run something, read from standard input: what Grafana needs
is there, and every metric, label and value that a query asks for.

Usage: curl …/metrics | grafana.py deploy/grafana-dashboard.json
"""

import json
import re
import sys

from prometheus_client.parser import text_string_to_metric_families

COLUMNS = 24
SCHEMA_MIN = 36
# What PromQL has of itself.
WORDS = {"sum", "by", "rate", "increase", "topk", "histogram_quantile", "le"}

samples = {}
for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        samples.setdefault(sample.name, []).append(sample.labels)
with open(sys.argv[1], encoding="utf-8") as file:
    dashboard = json.load(file)

# What Grafana needs to import it.
assert dashboard["title"] and dashboard["uid"], "it has a title, and an id of its own"
assert isinstance(dashboard["schemaVersion"], int) and dashboard["schemaVersion"] >= SCHEMA_MIN, dashboard.get("schemaVersion")
variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
sources = [name for name, variable in variables.items() if variable["type"] == "datasource" and variable["query"] == "prometheus"]
assert len(sources) == 1, f"one variable chooses the data source, and not {sources}"
source = {"type": "prometheus", "uid": f"${{{sources[0]}}}"}
panels = dashboard["panels"]
assert panels, "there are panels"
identifiers = [panel["id"] for panel in panels]
assert len(set(identifiers)) == len(panels), f"each panel has an id of its own: {identifiers}"
taken = {}
queries = []
for panel in panels:
    name = f"panel `{panel['title']}`"
    assert panel["type"] and panel["datasource"] == source, f"{name} asks the data source that was chosen, and not {panel['datasource']}"
    place = panel["gridPos"]
    assert place["x"] >= 0 and place["x"] + place["w"] <= COLUMNS and place["h"] > 0, f"{name} stands at {place}"
    for x in range(place["x"], place["x"] + place["w"]):
        for y in range(place["y"], place["y"] + place["h"]):
            assert taken.setdefault((x, y), name) == name, f"{name} stands on {taken[(x, y)]}"
    assert panel["targets"], f"{name} has a query"
    references = [target["refId"] for target in panel["targets"]]
    assert len(set(references)) == len(references), f"{name} has two queries of one name: {references}"
    queries += [(name, target["expr"]) for target in panel["targets"]]
for variable in variables.values():
    if variable["type"] == "query":
        assert variable["datasource"] == source, f"variable `{variable['name']}` asks the data source that was chosen"
        metric = re.fullmatch(r"label_values\((\w+), \w+\)", variable["query"])
        assert metric and metric[1] in samples, f"variable `{variable['name']}`: {variable['query']}"

# Every metric, label and value in it is there. The scraper adds `instance`.
asked = set()
for name, expression in queries:
    assert expression.count("(") == expression.count(")"), f"{name}: {expression}"
    rest = re.sub(r'"[^"]*"', "", expression)
    metrics = re.findall(r"([a-z_]+)\{([^}]*)\}", expression)
    assert metrics, f"{name} asks for no metric: {expression}"
    for metric, selectors in metrics:
        assert metric in samples, f"{name} asks for `{metric}`, which the coordinator does not have"
        asked.add(metric)
        known = {label for labels in samples[metric] for label in labels} | {"instance"}
        for label, operator, value in re.findall(r'(\w+)(=~|!=|=)"([^"]*)"', selectors):
            assert label in known, f"{name}: `{metric}` has no label `{label}`, but {sorted(known)}"
            if operator == "=":
                values = {labels.get(label) for labels in samples[metric]}
                assert value in values, f"{name}: `{metric}` has no {label}=\"{value}\", but {sorted(values)}"
        for labels in re.findall(r"by \(([^)]*)\)", expression):
            for label in labels.split(", "):
                assert label in known, f"{name}: `{metric}` has no label `{label}` to add up by, but {sorted(known)}"
    # Also what stands without braces would be a metric.
    bare = set(re.findall(r"\b[a-z_]{4,}\b", re.sub(r"by \([^)]*\)|\{[^}]*\}|\[[^]]*\]", "", rest))) - WORDS - {metric for metric, _ in metrics}
    assert not bare, f"{name}: {bare} is no metric of one coordinator"
print(f"{sys.argv[1]}: {len(panels)} panels, {len(queries)} queries for {len(asked)} metrics, all of which are there")
