"""Users with thousands of plays in one month, and questions of every shape about them.

The users of tests/data have at most 614 plays, and their filters are sorted sets. From DENSE_FROM items of a month on a
filter has the dense form, which is read in place: another path of the product, and the one that most of a site's users
are on.
"""

import random

import plays

DENSE_FROM = 4096
USERS = {"heavy-5000": 5_000, "heavy-20000": 20_000}  # User: how many items, all of one month.
ONE = {"heavy-5000": 5_000}  # Where a test has other work to do.
MERGED_OR_NOT = ("filter", "recent")  # Why a play is seen where a test does not wait for filters.
SIZES = (1, 100, 5_000, 10_000, plays.BATCH_ITEMS_MAX)  # Candidates of a question.


def item(user, n):
    """An item that only this user plays. About 25 bytes, as real ids are."""
    return f"video-of-{user}-{n:06}"


def never(user, n):
    return f"never-of-{user}-{n:06}"


def heavy_plays(time_ms, users=None):
    """Every play at one time, so that all are of one month whenever the test runs; the users' plays are mixed."""
    found = [
        plays.Play(user, item(user, n), time_ms, 1000, 2000)
        for user, count in (users or USERS).items()
        for n in range(count)
    ]
    random.Random(1).shuffle(found)
    return found


def question(user, played, size, share, rng):
    """(items, how many of them were played) of `size` candidates or as many as there are: the share of the played first.
    What is never played is new in each question of an rng, so that no false positive counts twice."""
    known = rng.sample(played, min(round(size * share), len(played)))
    if share == 1:
        return known, len(known)
    fresh = rng.randrange(1 << 40)
    return known + [never(user, fresh + n) for n in range(size - len(known))], len(known)


def questions(user, played, seed=1):
    """All played, none played, half of each; of 1 to the most candidates that a request takes."""
    rng = random.Random(f"{seed} {user}")
    return [question(user, played, size, share, rng) for size in SIZES for share in (1, 0, 0.5)]


def check(address, users, reasons=("filter",), options=(), seed=1):
    """Every question about every user {user: played items}, each twice at once, judged; a plays.Report. The second
    answer is the first one again. reasons: for which a played item may be seen. options: of `bloomring query`."""
    report = plays.Report()
    for user, played in sorted(users.items()):
        asked = questions(user, sorted(played), seed)
        twice = [(user, items) for items, _ in asked for _ in range(2)]
        answers = plays.query_batch(address, twice, options)
        for at, (items, known) in enumerate(asked):
            first, again = (
                answer if answer["complete"] else plays.complete_answer(address, user, items, options)
                for answer in answers[2 * at : 2 * at + 2]
            )
            report.judge(user, first, known)
            report.unseen += plays.unseen(user, again, known)
            report.changed += sum(one["seen"] != two["seen"] for one, two in zip(first["items"], again["items"]))
        report.users += 1
    report.other_reasons = sum(count for reason, count in report.reasons.items() if reason not in reasons)
    return report
