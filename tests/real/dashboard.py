"""The Grafana dashboard monitoring/dashboard.json, taken apart."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def page():
    return json.loads((ROOT / "monitoring" / "dashboard.json").read_text(encoding="utf-8"))


def panels():
    return [panel for panel in page()["panels"] if panel["type"] != "row"]


def queries():
    """(title of the panel, query) of each line of each panel."""
    return [(panel["title"], target["expr"]) for panel in panels() for target in panel["targets"]]


def without_variables(query, interval="1m"):
    """A query as Grafana sends it when all jobs and instances are chosen."""
    return query.replace("$__rate_interval", interval).replace("$job", ".+").replace("$instance", ".+")
