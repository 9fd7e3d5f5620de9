"""Each module of tests/real has heavy users, whose filters have the dense form, or stands in the table here with a reason."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REAL = ROOT / "tests" / "real"
sys.path.insert(0, str(REAL))

import law  # noqa: E402

# A question about every play of a heavy user, or about chosen ones. It fails when nobody has played them.
ASKS = re.compile(r"\bheavy\.(?:check|item)\(")
REASONS_MIN = 20  # Letters of a reason.
EXEMPT = {
    # Heavy users of another making.
    "test_continuous_queries": "its plays and its questions are those of tests/chaos, whose heavy users are heavy.USERS",
    "test_formats": "its user has 15,000 plays, whose filters a program written from docs/formats.md reads",
    "test_migrate": "its verify asks about each of the 12,000 items in the heaviest of its sets",
    "test_redis_store": "it asks about heavy.USERS by what it inherits from test_chain",
    "test_replica_killed": "every round of its clients asks about all 5,000 plays of one of its users",
    # No process of bloomring that has plays.
    "test_check": "it runs `check` against brokers and stores that are wrong or absent",
    "test_kafka_server": "it tests the broker that the others stand on",
    "test_mistakes": "it asks for messages and exit codes; no process serves",
    "test_processes": "it tests the helpers of this folder",
    "test_start_failures": "its processes end while they start",
    "test_start_wait": "its processes wait while they start, and nobody plays",
    "test_canary": "it judges plays of users that do not exist",
    "test_bundle": "it judges what a bundle has and has not",
    "test_log_level": "it judges lines of the log",
    "test_supervisor": "it judges what a supervisor hears",
    "test_exposure": "it scans ports, and nobody plays",
    "test_drain": "its clients ask whether a call is answered; nobody plays",
    # Ingest alone: it treats a record alike, however many plays its user has.
    "test_ingest_clock": "it starts an ingest process alone",
    "test_refusals": "it starts an ingest process alone",
    "test_upgrade": "its plays are those that earlier versions kept, a few for each user",
    # A whole installation, of which something else than filters is judged.
    "test_calls": "it judges metrics of calls, and memory after connections",
    "test_clients": "it judges clients in other languages by two items; the answers are made as for every client",
    "test_commands": "it judges the text and the exit codes of commands",
    "test_store_tls": "it judges a tunnel by values that move through it, whatever their form",
    "test_dashboard": "it judges the queries of the dashboard",
    "test_format_refusals": "it judges which changed records are refused",
    "test_logs": "it judges the form of log lines",
    "test_metrics": "it judges pages of metrics",
    "test_ops_page": "it judges a page without users",
    "test_request_memory": "it judges memory under requests about a user without plays",
    "test_site": "it types the commands of the quickstart, with the plays that stand there",
}


def faults(modules, exempt):
    """Modules {name: text} without a question about heavy users and without a row; rows without a need or a reason."""
    for name, text in modules.items():
        asks = bool(ASKS.search(text))
        if not asks and name not in exempt:
            yield f"{name}: asks about no heavy user, and has no row that says why"
        if asks and name in exempt:
            yield f"{name}: asks about heavy users, and has a row"
    yield from (f"{name}: is not there" for name in exempt if name not in modules)
    yield from (f"{name}: has no reason" for name, reason in exempt.items() if len(reason) < REASONS_MIN)


class Heavy(law.LawCase):
    def test_every_module(self):
        """heavy users: each module of tests/real asks about them, or its row says why it does not"""
        modules = {path.stem: path.read_text(encoding="utf-8") for path in sorted(REAL.glob("test_*.py"))}
        wrong = list(faults(modules, EXEMPT))
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_rules_bite(self):
        """heavy users: a module without them, a stale row, and a row without a module or a reason are found"""
        asks, lacks = "self.assertEqual(heavy.check(grpc, oracle).wrong(), [])", "site.play_heavily()  # heavy.check"
        reason = {"test_b": "it starts an ingest process alone"}
        self.assertEqual(list(faults({"test_a": asks, "test_b": lacks}, reason)), [])
        self.assertEqual(list(faults({"test_a": "items = [heavy.item(user, 0)]", "test_b": ""}, reason)), [])
        for modules, exempt in (
            ({"test_a": lacks, "test_b": ""}, reason),
            ({"test_a": asks, "test_b": asks}, reason),
            ({"test_a": asks}, reason),
            ({"test_b": lacks}, {"test_b": "later"}),
        ):
            self.assertEqual(len(list(faults(modules, exempt))), 1, modules)


if __name__ == "__main__":
    unittest.main()
