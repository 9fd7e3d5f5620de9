"""The level of the log of a running process: shown by everybody, changed with the token, told, and gone with the process."""

import json
import urllib.error
import urllib.request

import installation
import one_broker
import plays
import processes

PATH = "/log/level"
ENDED = "ended in order"


def post(admin, path, token=None):
    """The status of an action."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"http://{admin}{path}", data=b"", headers=headers, method="POST")
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


class LogLevel(one_broker.OneBrokerCase):
    def audited(self, run, path):
        return run.err.read_text().count(f"audit: an action action={path} peer=127.0.0.1")

    def test_change(self):
        """log level: it changes what a running process writes from the next line on, each change is told, and the next start has log.level again"""
        site = installation.Installation(self.folder, self.server.bootstrap, "level")
        with site.process("merge") as run:
            admin = run.ready_line(60)["admin"]
            token = (site.folder / "store" / "admin.token").read_text().strip()

            def level(*words):
                return json.loads(site.command("log-level", *words, "--admin", admin)[1])

            self.assertEqual(level(), {"level": "info", "configured": "info"})
            self.assertEqual(level("error"), {"level": "error", "configured": "info"})
            self.assertIn("audit: log.level changed from=info to=error", run.err.read_text())
            self.assertEqual(json.loads(processes.http_get(admin, PATH)[1])["level"], "error")
            # The log names the actor at every level.
            before = self.audited(run, "/store/backup")
            self.assertEqual(post(admin, "/store/backup", token), 409)
            run.wait_until(lambda: self.audited(run, "/store/backup") == before + 1, 30, "the action to be told")
            self.assertEqual(level("configured"), {"level": "info", "configured": "info"})
            self.assertIn("audit: log.level changed from=error to=info", run.err.read_text())
            run.wait_until(lambda: self.audited(run, f"{PATH}/configured") == 1, 30, "the change to be told")

            self.assertEqual(level("debug")["level"], "debug")
            self.assertEqual(site.command("log-level", "--admin", admin, "--output", "text")[1], "debug, configured is info\n")
            self.assertEqual(level("warning")["level"], "warning")
            self.assertEqual(run.term(), 0)
            self.assertNotIn(ENDED, run.err.read_text())  # A line of level info.
            admin = run.start().ready_line(60)["admin"]
            self.assertEqual(level(), {"level": "info", "configured": "info"})
            self.assertEqual(run.term(), 0)
            self.assertIn(ENDED, run.err.read_text())

    def test_refused(self):
        """log level: nobody changes it without the token, and a process without a token not at all"""
        site = installation.Installation(self.folder, self.server.bootstrap, "refused")
        with site.process("merge") as merge, site.process("ingest") as ingest:
            admins = {run: run.ready_line(60)["admin"] for run in (merge, ingest)}
            self.assertEqual(post(admins[merge], f"{PATH}/debug"), 401)
            self.assertEqual(post(admins[merge], f"{PATH}/debug", "0123456789abcdef"), 401)
            self.assertEqual(post(admins[merge], f"{PATH}/loud", "0123456789abcdef"), 404)
            self.assertEqual(post(admins[ingest], f"{PATH}/debug", "0123456789abcdef"), 503)
            ingest.wait_until(lambda: "admin.token_file is not set" in ingest.err.read_text(), 30, "the log to say why")
            code, _, err = site.command("log-level", "debug", "--admin", admins[ingest], check=False)
            self.assertEqual(code, 1, err)
            for admin in admins.values():
                self.assertEqual(json.loads(processes.http_get(admin, PATH)[1])["level"], "info")
            code, _, err = processes.run([plays.binary(), "log-level", "debgu"], check=False)
            self.assertEqual(code, 2)
            self.assertIn("did you mean debug?", err)
            self.assertEqual((merge.term(), ingest.term()), (0, 0))
        code, _, err = site.command("log-level", "--admin", admins[merge], check=False)
        self.assertEqual(code, 1)
        self.assertIn("--admin HOST:PORT", err)
