"""The Grafana dashboard of monitoring/: its form, and its queries, which promtool takes and which read only metrics that exist.

tests/real/test_dashboard.py runs the queries. Needs promtool (package prometheus, by scripts/setup).
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import dashboard  # noqa: E402
import law  # noqa: E402
import metric_names  # noqa: E402

ROWS = ["Overview", "Ring", "Query service", "Stores", "Kafka"]
QUERIES_MIN = 50
WIDTH = 24
BOUND_S = 120
SELECTOR = re.compile(r"\b(\w+)\{([^}]*)\}")


class Dashboard(law.LawCase):
    def test_form(self):
        """dashboard: it can be provisioned and imported, and its rows are those of the operators' questions"""
        page = dashboard.page()
        self.assertEqual((page["uid"], page["id"]), ("bloomring", None))
        variables = {variable["name"]: variable["type"] for variable in page["templating"]["list"]}
        self.assertEqual(variables, {"datasource": "datasource", "job": "query", "instance": "query"})
        self.assertEqual([panel["title"] for panel in page["panels"] if panel["type"] == "row"], ROWS)
        identities = [panel["id"] for panel in page["panels"]]
        self.assertEqual(len(identities), len(set(identities)))

    def test_panels(self):
        """dashboard: each panel has a title of its own, a description, a unit and the data source of the variable"""
        titles = [panel["title"] for panel in dashboard.panels()]
        self.assertEqual(len(titles), len(set(titles)))
        for panel in dashboard.panels():
            self.assertRegex(panel["description"], r"^\S.*\.$", panel["title"])
            self.assertTrue(panel["fieldConfig"]["defaults"]["unit"], panel["title"])
            for part in (panel, *panel["targets"]):
                self.assertEqual(part["datasource"], {"type": "prometheus", "uid": "${datasource}"}, panel["title"])

    def test_places(self):
        """dashboard: no panel covers another or goes beyond the width"""
        taken = set()
        for panel in dashboard.page()["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], WIDTH, panel["title"])
            fields = {
                (place["x"] + right, place["y"] + down) for right in range(place["w"]) for down in range(place["h"])
            }
            self.assertFalse(fields & taken, panel["title"])
            taken |= fields

    def test_queries(self):
        """dashboard: each query reads metrics that exist, of the chosen jobs and instances, and promtool takes it"""
        queries = dashboard.queries()
        self.assertGreaterEqual(len(queries), QUERIES_MIN)
        for title, query in queries:
            self.assertEqual(metric_names.unknown_in(query), [], title)
            selected = SELECTOR.findall(query)
            self.assertEqual({name for name, _ in selected}, metric_names.names_in(query), title)
            for _, labels in selected:
                self.assertTrue(labels.startswith('job=~"$job", instance=~"$instance"'), title)
            self.assertEqual(query.count("rate("), query.count("[$__rate_interval]"), title)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as rules:
            rules.write("groups:\n- name: dashboard\n  rules:\n")
            for number, (_, query) in enumerate(queries):
                plain = dashboard.without_variables(query).replace("'", "''")
                rules.write(f"  - {{record: 'dashboard:{number}', expr: '{plain}'}}\n")
            rules.flush()
            done = subprocess.run(
                ["promtool", "check", "rules", rules.name], capture_output=True, text=True, timeout=BOUND_S, check=False
            )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{len(queries)} rules found", done.stdout)


if __name__ == "__main__":
    unittest.main()
