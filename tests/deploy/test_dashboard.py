"""Every query of the Grafana dashboard and of the alerts is asked of a real Prometheus that scrapes the real daemon."""

import json
import math
import pathlib
import re

import pytest
from daemon import ROOT, wait_for

DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "millrace.json").read_text())
ALERTS = (ROOT / "deploy" / "prometheus" / "alerts.yml").read_text()

# What Grafana would put in; the scrape interval here is 1 s.
VARIABLES = {"$job": "millrace", "$instance": ".*", "$model": ".*", "$__rate_interval": "1m"}

QUERIES = [pytest.param(target["expr"], id=f"{panel['title']} {target['refId']}")
           for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]


def substitute(expression: str) -> str:
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    assert "$" not in expression, f"unknown variable in {expression}"
    return expression


def has_value(series: list[dict]) -> bool:
    return any(not math.isnan(float(one["value"][1])) for one in series)


@pytest.mark.parametrize("expression", QUERIES)
def test_query_of_the_dashboard_returns_data(prometheus, traffic, expression):
    expression = substitute(expression)
    wait_for(f"data for {expression}", lambda: has_value(prometheus.query(expression)))


def test_variables_of_the_dashboard_have_values(prometheus):
    checked = 0
    for variable in DASHBOARD["templating"]["list"]:
        match = re.fullmatch(r"label_values\((.*), (\w+)\)", variable.get("definition", ""))
        if match:
            metric, label = substitute(match[1]), match[2]
            wait_for(f"values of {variable['name']}", lambda m=metric, l=label: any(
                l in series["metric"] for series in prometheus.query(m)))
            checked += 1
    assert checked == 3


def test_rules_are_evaluated_and_none_fires(prometheus, traffic):
    rules = wait_for("all rules evaluated", lambda: evaluated(prometheus.rules()))
    assert len(rules) == ALERTS.count("- alert:")
    assert [(rule["name"], rule["lastError"]) for rule in rules if rule["health"] != "ok"] == []
    assert [rule["name"] for rule in rules if rule["state"] == "firing"] == []


def evaluated(rules: list[dict]) -> list[dict]:
    return rules if rules and all(rule["health"] != "unknown" for rule in rules) else []


def test_metrics_and_label_values_of_the_alerts_exist(prometheus):
    expressions = re.findall(r"expr: (?:\|\n((?:          .*\n)+)|(.*)\n)", ALERTS)
    text = "\n".join(block or line for block, line in expressions)
    for metric in sorted(set(re.findall(r"\b(?:millrace|process)_\w+|\bup\b", text))):
        wait_for(f"series of {metric}", lambda m=metric: prometheus.query(m))
    matchers = re.findall(r'(\w+)(?:=~|!=|=)"([^"]*)"', text)
    for label, values in sorted(set(matchers)):
        for value in values.split("|"):
            wait_for(f'a series with {label}="{value}"', lambda l=label, v=value: prometheus.query(f'{{{l}="{v}"}}'))


def test_every_metric_of_the_daemon_is_on_the_dashboard(prometheus, daemon):
    """A metric that nobody can see might as well not be measured."""
    names = {series["metric"]["__name__"] for series in prometheus.query('{job="millrace", __name__=~"millrace_.*"}')}
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}
    shown = " ".join(target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", []))
    assert sorted(family for family in families if family not in shown) == []


def test_file_is_what_the_generator_writes():
    generator = {"__file__": str(ROOT / "deploy" / "grafana" / "dashboard.py"), "__name__": "dashboard"}
    exec(compile(pathlib.Path(generator["__file__"]).read_text(), "dashboard.py", "exec"), generator)
    assert DASHBOARD == generator["build"]()
