"""The manifests of k8s/: every overlay renders, each object is one of its API, and pods start with settings that there are.

Needs Go with the modules of tests/k8s (scripts/setup fetches them) and the program of the preset `tested`.
"""

import copy
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "real"))

import law  # noqa: E402

PROGRAM = ROOT / "build" / "tested" / "bin" / "bloomring"
MAKER = ROOT / "scripts" / "kubernetes"
COMPONENTS = ROOT / "k8s" / "components"
MADE = ("monitoring/prometheus_rule.yaml", "strimzi/topics.yaml", "strimzi/users.yaml")
OVERLAYS = {
    "dev": ROOT / "k8s/overlays/dev",
    "prod": ROOT / "k8s/overlays/prod",
    "keda": ROOT / "tests/k8s/keda",
    "base": ROOT / "k8s/base",
}
KINDS = {
    *("ConfigMap", "Namespace", "Service", "ServiceAccount", "StatefulSet", "PodDisruptionBudget", "NetworkPolicy"),
    *("PodMonitor", "PrometheusRule", "KafkaTopic", "KafkaUser", "ScaledObject"),
}
PROBES = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
STAGES = {"ingest", "window", "merge", "serve"}
BOUND_S = 300
MIB_OF_GIB = 1024


@functools.cache
def validator():
    """The program of tests/k8s; the folder it is in lasts as long as this process."""
    folder = tempfile.TemporaryDirectory(prefix="bloomring-k8s-")
    path = pathlib.Path(folder.name) / "validate"
    environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOTOOLCHAIN": "local"}
    subprocess.run(["go", "build", "-o", path, "."], cwd=ROOT / "tests/k8s", env=environment, timeout=BOUND_S, check=True)
    return path, folder


def validate(folder):
    """(exit code, standard output, standard error)"""
    done = subprocess.run(
        [validator()[0], str(folder)], capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    return done.returncode, done.stdout, done.stderr


@functools.cache
def rendered(overlay):
    code, out, err = validate(OVERLAYS[overlay])
    if code != 0:
        raise AssertionError(f"{overlay}: {err}")
    return json.loads(out)


def of_kind(overlay, kind):
    return [thing for thing in rendered(overlay) if thing["kind"] == kind]


def container(workload):
    (one,) = workload["spec"]["template"]["spec"]["containers"]
    return one


def pods():
    """(overlay, StatefulSet, its pod, its container)"""
    for overlay in OVERLAYS:
        for workload in of_kind(overlay, "StatefulSet"):
            yield overlay, workload, workload["spec"]["template"]["spec"], container(workload)


def variables(workload, ordinal):
    """The environment of one pod."""
    name = f"{workload['metadata']['name']}-{ordinal}"
    found = {}
    for entry in container(workload)["env"]:
        source = entry.get("valueFrom", {"fieldRef": {"fieldPath": ""}})["fieldRef"]["fieldPath"]
        found[entry["name"]] = {"": entry.get("value"), "metadata.name": name}[source]
    return found


def limit_found(workload):
    """memory.limit of a pod: what the program makes of the limit of the container's cgroup."""
    limit = int(container(workload)["resources"]["limits"]["memory"].removesuffix("Gi"))
    return f"{limit * MIB_OF_GIB * 4 // 5}MiB"


def settings(overlay, workload, ordinal=1, more=None, lines=""):
    """`bloomring check --print` in the pod, with more variables and lines of the file: (exit code, {key: value}, standard error)."""
    pod = workload["spec"]["template"]["spec"]
    (name,) = [volume["configMap"]["name"] for volume in pod["volumes"] if "configMap" in volume]
    (data,) = [thing["data"] for thing in of_kind(overlay, "ConfigMap") if thing["metadata"]["name"] == name]
    with tempfile.TemporaryDirectory(prefix="bloomring-k8s-") as folder:
        path = pathlib.Path(folder) / "bloomring.yaml"
        path.write_text(data["bloomring.yaml"] + lines, encoding="utf-8")
        host = {"HOSTNAME": f"{workload['metadata']['name']}-{ordinal}", "BLOOMRING_MEMORY_LIMIT": limit_found(workload)}
        environment = {"PATH": os.environ["PATH"], **host, **variables(workload, ordinal), **(more or {})}
        done = subprocess.run(
            [PROGRAM, "check", "--print", "--config", path],
            env=environment, capture_output=True, text=True, timeout=BOUND_S, check=False,
        )  # fmt: skip
    return done.returncode, flat(done.stdout), done.stderr


def flat(yaml):
    """{key: value} of the effective configuration, which is YAML of two spaces a level."""
    sections, found = [], {}
    for line in yaml.splitlines():
        match = re.match(r"( *)([\w.\"]+):(?: (.*?))?(?:  # .*)?$", line)
        if match:
            sections[len(match[1]) // 2 :] = [match[2]]
            found[".".join(sections)] = match[3] or ""
    return found


def keys():
    """{variable of the environment} of all keys."""
    text = (ROOT / "docs/reference/config.md").read_text(encoding="utf-8")
    return set(re.findall(r"`(BLOOMRING_\w+)`", text))


def typos(thing):
    """The object with one more key, at the top and at the deepest map of its specification."""
    top = copy.deepcopy(thing)
    top["spce"] = {}
    yield top
    deep = copy.deepcopy(thing)
    place, spec = deep.get("spec"), deep.get("spec")
    while isinstance(place, dict):
        spec = place
        place = next((v for v in spec.values() if isinstance(v, dict) and not all(isinstance(x, str) for x in v.values())), None)
    if spec is not None:
        spec["replcas"] = [1]
        yield deep


class Kubernetes(law.LawCase):
    def test_overlays(self):
        """kubernetes: every overlay renders, and each object has the keys of its API and no others"""
        found = {thing["kind"] for overlay in OVERLAYS for thing in rendered(overlay)}
        self.assertEqual(found, KINDS)
        for overlay in OVERLAYS:
            names = [(thing["kind"], thing["metadata"]["name"]) for thing in rendered(overlay)]
            self.assertEqual(len(names), len(set(names)), overlay)

    def test_typos(self):
        """kubernetes: a key that its API does not know is refused, in an object of each kind"""
        samples = {thing["kind"]: thing for thing in rendered("keda")}
        self.assertEqual(set(samples), KINDS)
        for kind, sample in samples.items():
            for wrong in typos(sample):
                with tempfile.TemporaryDirectory(prefix="bloomring-k8s-") as folder:
                    (pathlib.Path(folder) / "one.yaml").write_text(json.dumps(wrong), encoding="utf-8")
                    (pathlib.Path(folder) / "kustomization.yaml").write_text("resources: [one.yaml]", encoding="utf-8")
                    code, _, err = validate(folder)
                self.assertNotEqual(code, 0, kind)
                self.assertRegex(err, r"(unknown field|cannot unmarshal).*(spce|replcas)", kind)

    def test_made(self):
        """kubernetes: alerts, topics and users are those of monitoring/alerts.yaml and of the program"""
        with tempfile.TemporaryDirectory(prefix="bloomring-k8s-") as folder:
            subprocess.run([MAKER, "--to", folder], timeout=BOUND_S, check=True)
            for name in MADE:
                made = (pathlib.Path(folder) / name).read_text(encoding="utf-8")
                self.assertEqual((COMPONENTS / name).read_text(encoding="utf-8"), made, f"{name}: run scripts/kubernetes")

    def test_topics(self):
        """kubernetes: each topic that bloomring makes is an object with the partitions of the pods' configuration, at the cluster of the users"""
        topics, users = of_kind("prod", "KafkaTopic"), of_kind("prod", "KafkaUser")
        rights = [acl["resource"] for user in users for acl in user["spec"]["authorization"]["acls"]]
        named = {right["name"] for right in rights if right["type"] == "topic"}
        # The topic of plays is the site's, and that of jobs is made by the first of them.
        self.assertEqual(named - {topic["spec"]["topicName"] for topic in topics}, {"plays", "bloomring-jobs"})
        self.assertEqual({thing["metadata"]["labels"]["strimzi.io/cluster"] for thing in topics + users}, {"kafka"})
        (window,) = [thing for thing in of_kind("prod", "StatefulSet") if thing["metadata"]["name"] == "bloomring-window"]
        partitions = settings("prod", window)[1]["topics.partitions"]
        by_name = {topic["spec"]["topicName"]: topic["spec"] for topic in topics}
        for name in ("user-events", "user-batches"):
            self.assertEqual(str(by_name[name]["partitions"]), partitions, name)
            self.assertEqual(by_name[name]["config"]["message.timestamp.type"], "LogAppendTime", name)

    def test_settings(self):
        """kubernetes: each pod starts with settings that there are and that fit, and with its own name as instance; memory and ordinal it finds itself"""
        for overlay, workload, _, _ in pods():
            name = workload["metadata"]["name"]
            with self.subTest(overlay=overlay, workload=name):
                code, found, err = settings(overlay, workload)
                self.assertEqual(code, 0, err)
                self.assertEqual(found["instance"], f"{name}-1")
                self.assertEqual(found["memory.limit"], limit_found(workload), "the configuration sets it")
                if "serve" in found["stages"]:
                    self.assertEqual(found["serve.replica_index"], "0" if overlay == "dev" else "1")
                self.assertNotIn("BLOOMRING_MEMORY_LIMIT", variables(workload, 1))
                self.assertNotIn("BLOOMRING_SERVE_REPLICA_INDEX", variables(workload, 1))
                unknown = [variable for variable in variables(workload, 1) if variable not in keys()]
                of_kafka = [name for name in unknown if name.startswith("BLOOMRING_KAFKA_PROPERTIES_")]
                self.assertEqual(unknown, of_kafka)

    def test_settings_bite(self):
        """kubernetes: a setting that there is not, and a replica beyond the count, are refused"""
        (serve,) = [thing for thing in of_kind("prod", "StatefulSet") if thing["metadata"]["name"] == "bloomring-serve"]
        self.assertEqual(settings("prod", serve, serve["spec"]["replicas"] - 1)[1]["serve.replica_index"], "3")
        code, _, err = settings("prod", serve, serve["spec"]["replicas"])
        self.assertEqual(code, 2)
        self.assertIn("serve.replica_index is 4", err)
        code, _, err = settings("prod", serve, lines="rng:\n  slots: 6\n")
        self.assertEqual(code, 2)
        self.assertIn("unknown key rng", err)
        code, _, err = settings("prod", serve, more={"BLOOMRING_SERVE_REPLICATION_FACTOR": "9"})
        self.assertEqual(code, 2, err)

    def test_replicas(self):
        """kubernetes: the count of replicas that serve believes is that of its pods, and a group has no idle pod"""
        for overlay, workload, _, _ in pods():
            replicas, found = workload["spec"]["replicas"], settings(overlay, workload, 0)[1]
            if "serve" in found["stages"]:
                self.assertEqual(found["serve.replica_count"], str(replicas), overlay)
            self.assertLessEqual(replicas, int(found["topics.partitions"]), overlay)

    def test_store(self):
        """kubernetes: an embedded filter store is opened in one pod alone, with all stages; others use servers"""
        kinds = set()
        for overlay, workload, _, _ in pods():
            found = settings(overlay, workload, 0)[1]
            kinds.add((overlay, found["store.kind"]))
            if found["store.kind"] == "embedded":
                self.assertEqual([workload], of_kind(overlay, "StatefulSet"))
                self.assertEqual(workload["spec"]["replicas"], 1)
                self.assertEqual(set(re.findall(r"\w+", found["stages"])), STAGES)
        self.assertEqual(kinds, {("dev", "embedded"), ("prod", "redis"), ("keda", "redis"), ("base", "redis")})

    def test_probes(self):
        """kubernetes: the three probes ask paths of the admin port, at the port that the settings give them"""
        source = (ROOT / "pipeline/admin/admin_server.cc").read_text(encoding="utf-8")
        for overlay, workload, _, one in pods():
            found = settings(overlay, workload, 0)[1]
            ports = {port["name"]: str(port["containerPort"]) for port in one["ports"]}
            for probe, path in PROBES.items():
                asked = one[probe]["httpGet"]
                self.assertEqual((asked["path"], asked["port"]), (path, "health"))
                self.assertIn(f'"{path}"', source)
            wanted = {"health": "admin.health_listen", "admin": "admin.listen", "grpc": "serve.listen"}
            for name, port in ports.items():
                self.assertEqual(found[wanted[name]].strip('"'), f"0.0.0.0:{port}", overlay)
            self.assertEqual("grpc" in ports, "serve" in found["stages"])

    def test_end(self):
        """kubernetes: Kubernetes waits longer for the end of a pod than the process does"""
        for overlay, workload, pod, _ in pods():
            found = settings(overlay, workload, 0)[1]
            self.assertLess(int(found["process.stop_seconds"]), pod["terminationGracePeriodSeconds"])
            self.assertLess(int(found["serve.drain_seconds"]), int(found["process.stop_seconds"]))

    def test_restricted(self):
        """kubernetes: each pod has what the restricted profile asks for, a read-only root and no token"""
        for overlay, _, pod, one in pods():
            with self.subTest(overlay=overlay):
                self.assertIs(pod["automountServiceAccountToken"], False)
                self.assertIs(pod["enableServiceLinks"], False)
                self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
                self.assertGreater(pod["securityContext"]["runAsUser"], 10000)
                self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
                self.assertEqual(
                    one["securityContext"],
                    {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
                )
                self.assertEqual(one["resources"]["limits"]["memory"], one["resources"]["requests"]["memory"])

    def test_files(self):
        """kubernetes: each folder and file that a stage uses lies in a volume of its pod"""
        for overlay, workload, pod, one in pods():
            found = settings(overlay, workload, 0)[1]
            mounts = [mount["mountPath"] for mount in one["volumeMounts"]]
            claims = [claim["metadata"]["name"] for claim in workload["spec"].get("volumeClaimTemplates", [])]
            volumes = [volume["name"] for volume in pod["volumes"]] + claims
            self.assertEqual(sorted(mount["name"] for mount in one["volumeMounts"]), sorted(volumes), overlay)
            used = [value.strip('"') for value in variables(workload, 0).values() if value.startswith("/")]
            used += [found["store.redis.password_file"].strip('"')]
            used += [found[key].strip('"') for key in ("serve.tls_key", "serve.tls_client_ca") if "serve" in found["stages"]]
            used += [found["state.path"].strip('"')] if "window" in found["stages"] else []
            used += [found["store.path"].strip('"')] if found["store.kind"] == "embedded" else []
            for path in filter(None, used):
                self.assertTrue(any(path.startswith(f"{mount}/") for mount in mounts), f"{overlay}: {path}")

    def test_selectors(self):
        """kubernetes: each service, budget, spread and static name is of pods that there are"""
        for overlay, workload, pod, _ in pods():
            labels = workload["spec"]["template"]["metadata"]["labels"].items()
            self.assertLessEqual(workload["spec"]["selector"]["matchLabels"].items(), labels)
            services = {thing["metadata"]["name"]: thing["spec"] for thing in of_kind(overlay, "Service")}
            self.assertLessEqual(services[workload["spec"]["serviceName"]]["selector"].items(), labels)
            self.assertEqual(services[workload["spec"]["serviceName"]]["clusterIP"], "None")
            self.assertEqual(workload["spec"]["podManagementPolicy"], "Parallel")
            for spread in pod.get("topologySpreadConstraints", []):
                self.assertLessEqual(spread["labelSelector"]["matchLabels"].items(), labels)
            if overlay != "dev":
                budgets = [b["spec"] for b in of_kind(overlay, "PodDisruptionBudget")]
                mine = [b for b in budgets if b["selector"]["matchLabels"].items() <= labels]
                self.assertEqual([b["maxUnavailable"] for b in mine], [1], workload["metadata"]["name"])


if __name__ == "__main__":
    unittest.main()
