"""The faults of a run and their times: a pure function of the seed.

A deck holds every kind of fault, each with the stage or part it strikes. It is shuffled and dealt in steps of a few
faults that strike different things at about the same time; when it is used up, it is shuffled again. So a run of one
deck has seen every kind, and a longer one the kinds in ever new company.
"""

import dataclasses
import random

BROKERS = 3
SESSION_TIMEOUT_S = 6
FAULTS_PER_STEP = 5

INSTANCES = {
    "merge": ("merge",),
    "window": ("window-1", "window-2"),
    "serve": ("serve-0", "serve-1"),
    "ingest": ("ingest-1",),
}

FAULT_POINTS = {
    "ingest": ("ingest.block_sent", "ingest.acknowledged", "ingest.committed"),
    "window": (
        "window.staged",
        "window.batch_sent",
        "window.slot_end_sent",
        "window.slot_end_durable",
        "window.released",
        "window.committed",
    ),
    "merge": ("merge.applied", "merge.advanced", "merge.committed"),
}


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    target: str  # An instance, or broker-N.
    at_s: float  # After the start of its step.
    for_s: float  # How long it lasts.
    detail: str = ""

    def __str__(self):
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.at_s:4.1f} s: {self.kind}{detail} of {self.target} for {self.for_s:.1f} s"


# (kind, what it strikes). "broker" stands for any broker; a stage for any of its instances.
DECK = (
    *(("kill -9", stage) for stage in INSTANCES),
    ("kill -9 and lost state", "window"),
    *(("SIGTERM", stage) for stage in INSTANCES),
    *(("stall beyond the session", stage) for stage in INSTANCES),
    *(("crash at a fault point", stage) for stage in FAULT_POINTS),
    ("store refuses writes", "merge"),
    ("store stands still", "merge"),
    ("store refuses reads", "serve"),
    ("store restored", "merge"),
    ("full disk", "merge"),
    ("full disk", "window-2"),
    *(("clock ahead", stage) for stage in INSTANCES),
    *(("clock behind", stage) for stage in INSTANCES),
    ("burst of one user", "one user"),
    ("member joins and leaves", "window-3"),
    ("member joins and leaves", "ingest-2"),
    ("second process of an instance", "window"),
    ("broker kill -9", "broker"),
    ("broker SIGTERM", "broker"),
    ("broker stall", "broker"),
)
# Dealt only in runs that last: no broker answers meanwhile, one is away for minutes, or plays wait for a clock.
LONG_DECK = (
    *DECK,
    ("two brokers kill -9", "broker"),
    ("partition without leader", "broker"),
    *(("clock far ahead", stage) for stage in INSTANCES),
    *(("clock far behind", stage) for stage in INSTANCES),
    *(("clock months ahead", stage) for stage in INSTANCES),
)
# With the filters on a Redis cluster: three primaries with a replica each.
PRIMARIES = 3
RELAYED = 1  # The number of the server that clients and replicas reach through a relay.
SERVER_DECK = (
    ("server kill -9", "primary"),
    ("server stall", "primary"),
    ("server full", "primary"),
    ("server with a full disk", "primary"),
    ("network cut", "relay"),
    ("kill -9", "merge"),
    ("SIGTERM", "merge"),
    ("stall beyond the session", "merge"),
    ("crash at a fault point", "merge"),
    ("store refuses writes", "merge"),
    ("store refuses reads", "serve"),
    ("kill -9", "serve"),
    ("kill -9 and lost state", "window"),
    ("member joins and leaves", "merge-2"),
    ("broker kill -9", "broker"),
)
DECKS = {"embedded": DECK, "redis": SERVER_DECK}
LONG_DECKS = {"embedded": LONG_DECK, "redis": SERVER_DECK}
# One of a step: a primary and the replica that takes over from it must not be away together.
TAKE_OVERS = {"server kill -9", "server stall"}
CLOCK_OFF_S = (2, 30, 240)
CLOCK_FAR_OFF_S = (900, 7200)  # events.ahead_seconds is 600.
CLOCK_NOTICED_S = (12, 18)  # For so long ingest has a clock that it does not trust: it has to hear from brokers meanwhile.
MONTHS_S = 8 * 31 * 24 * 3600  # Beyond the retention of filters.



def _target(rng, struck, brokers):
    if struck == "broker":
        return f"broker-{rng.randint(1, brokers)}"
    if struck == "primary":
        return f"primary-{rng.randrange(PRIMARIES)}"
    return rng.choice(INSTANCES[struck]) if struck in INSTANCES else struck


def _fault(rng, kind, struck, brokers):
    target, at_s, detail = _target(rng, struck, brokers), round(rng.uniform(0, 2), 1), ""
    for_s = rng.choice((0.3, 2, SESSION_TIMEOUT_S + 2))
    if kind in ("stall beyond the session", "second process of an instance", "member joins and leaves"):
        for_s = SESSION_TIMEOUT_S + rng.uniform(1, 4)
    elif kind == "crash at a fault point":
        detail = f"{rng.choice(FAULT_POINTS[struck])}:{rng.choice((1, 1, 2, 5))}"
    elif kind in ("store refuses writes", "store refuses reads"):
        detail = str(rng.choice((20, 200)))
    elif kind == "store stands still":
        detail = str(rng.randint(3000, 8000))
    elif kind == "store restored":
        for_s = rng.uniform(6, 12)
    elif kind == "full disk":
        for_s = rng.uniform(5, 9)
    elif kind.startswith("clock"):
        off_s = rng.choice(CLOCK_FAR_OFF_S if "far" in kind else CLOCK_OFF_S)
        off_s = MONTHS_S if "months" in kind else off_s
        off_s *= 1 if kind.endswith("ahead") else -1
        for_s, detail = rng.uniform(*CLOCK_NOTICED_S if struck == "ingest" else (3, 6)), str(off_s * 1000)
    elif kind == "partition without leader":
        for_s = rng.uniform(60, 120)
    elif kind == "server stall":
        for_s = rng.choice((1, 5, 9))  # A replica takes over after two seconds and more.
    elif kind.startswith("broker") or kind.startswith("two") or kind.startswith("server") or kind == "network cut":
        for_s = rng.uniform(4, 9)
    return Fault(kind, target, at_s, round(for_s, 1), detail)


def _fits(fault, step):
    """Faults of a step strike different things; one of them at most strikes brokers. Restoring a store is a step alone:
    only then is it known from when on answers are whole again. So is a partition without leader: it ends others itself."""
    if step and {"store restored", "partition without leader"} & {fault.kind, step[0].kind}:
        return False
    if fault.kind in TAKE_OVERS and any(other.kind in TAKE_OVERS for other in step):
        return False
    if len(step) >= FAULTS_PER_STEP or any(other.target == fault.target for other in step):
        return False
    return not (fault.target.startswith("broker") and any(other.target.startswith("broker") for other in step))


def steps(seed, brokers=BROKERS, only=None, long=False, store="embedded"):
    """An endless sequence of steps, each a list of faults. only: of these kinds."""
    rng = random.Random(f"chaos {seed}")
    cards = [card for card in (LONG_DECKS if long else DECKS)[store] if not only or card[0] in only]
    while True:
        deck = rng.sample(cards, len(cards))
        dealt = []
        for card in deck:
            fault = _fault(rng, *card, brokers)
            home = next((step for step in dealt if _fits(fault, step)), None)
            if home is None:
                dealt.append(home := [])
            home.append(fault)
        yield from dealt
