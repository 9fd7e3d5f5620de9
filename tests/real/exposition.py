"""The rules of Prometheus's text format, and of its naming, as `promtool check metrics` has them; for a page as it was
scraped."""

import math
import re

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
NOT_BASE = re.compile(r"_(ms|millis|milliseconds|minutes|hours|days|kb|mb|kilobytes|megabytes|percent)(_|$)")
TYPES = ("counter", "gauge", "histogram")


def _family(name, types):
    for suffix in ("_bucket", "_sum", "_count"):
        base = name.removesuffix(suffix)
        if base != name and types.get(base) == "histogram":
            return base
    return name


def _labels(text):
    """([(name, value)], rest that is none)."""
    found, at = [], 0
    while match := LABEL.match(text, at):
        found.append((match[1], match[2]))
        at = match.end()
    return found, text[at:]


def _bad_name(name, kind):
    if not NAME.fullmatch(name):
        return "is no name in snake case"
    if (kind == "counter") != name.endswith("_total"):
        return f"is a {kind}: counters end with _total, and nothing else does"
    if NOT_BASE.search(name):
        return "is not in a base unit"
    if re.search(r"_(counter|gauge|histogram)(_|$)", name):
        return "has its type in its name"
    return None


def _bad_buckets(name, buckets, count):
    """buckets: {other labels: [(le, number)]}, count: {labels: number}."""
    for labels, rows in buckets.items():
        edges, numbers = zip(*sorted(rows))
        if edges[-1] != math.inf or numbers[-1] != count.get(labels):
            yield f"{name}{labels}: the bucket +Inf is missing or not the count"
        if list(numbers) != sorted(numbers):
            yield f"{name}{labels}: buckets do not add up"


def problems(text):
    """The faults of the page, a line each."""
    found, helps, types, series = [], {}, {}, set()
    ended, current = set(), None
    buckets, counts = {}, {}
    for line in text.splitlines():
        if comment := re.fullmatch(r"# (HELP|TYPE) (\S+) (.*)", line):
            kind, name, rest = comment.groups()
            if name in (helps if kind == "HELP" else types):
                found.append(f"{name}: {kind} twice")
            (helps if kind == "HELP" else types)[name] = rest
            if name != current:
                ended.add(current)
                current = name
            continue
        sample = SAMPLE.fullmatch(line)
        if not sample:
            found.append(f"no sample and no comment: {line}")
            continue
        name, _, inside, number = sample.groups()
        labels, rest = _labels(inside or "")
        family = _family(name, types)
        if rest:
            found.append(f"{name}: labels are not readable: {inside}")
        if family != current or family in ended:
            found.append(f"{name}: stands outside of its family")
        if (name, tuple(sorted(labels))) in series:
            found.append(f"{line}: twice")
        series.add((name, tuple(sorted(labels))))
        found += [f"{name}: the value of {key} is empty or has blanks: {value!r}" for key, value in labels
                  if not value or re.search(r"\s", value)]
        value = float(number)
        if math.isnan(value):
            found.append(f"{line}: is no number")
        if types.get(family) == "counter" and value < 0:
            found.append(f"{line}: a counter below 0")
        if types.get(family) == "histogram":
            edges = [float(edge) for key, edge in labels if key == "le"]
            others = tuple(sorted((key, edge) for key, edge in labels if key != "le"))
            if name.endswith("_bucket"):
                buckets.setdefault(family, {}).setdefault(others, []).append((edges[0], value))
            elif name.endswith("_count"):
                counts.setdefault(family, {})[others] = value
    for name, kind in types.items():
        if kind not in TYPES or not helps.get(name):
            found.append(f"{name}: no help, or of type {kind}")
        if bad := _bad_name(name, kind):
            found.append(f"{name}: {bad}")
    for name in helps.keys() - types.keys():
        found.append(f"{name}: no type")
    for name, of in buckets.items():
        found += _bad_buckets(name, of, counts.get(name, {}))
    return found
