"""When an empty search is evidence, and when the next search is due. Pure.

"Absent" needs two complete look-ups after the grace, a settle time apart, each with a positive control; a backend whose
negative by name is authoritative needs one. Any failed look-up starts the count again. Without a control it stays in doubt.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from gonogo.events.submission import Sighting, SubmissionAbsent
from gonogo.projections.submissions import InDoubt, Look, Settled

BACK_OFF_MAX = timedelta(seconds=300)
"""Look-ups that fail or have no control are repeated at most this far apart."""
LOOK_EVERY_MIN = timedelta(seconds=1)
"""…and at least this far, whatever a backend's settle time is."""
NAME_WATCH = tuple(timedelta(minutes=m) for m in (1, 5, 15, 60, 240, 720, 1440))
"""A name whose job was found absent, rejected or withheld is looked at again at these ages, for 24 hours: a late first copy
must be seen as a conflict, not run unseen."""


def lineages(found: tuple[Sighting, ...]) -> frozenset[str]:
    """The distinct copies among sightings; copies the platform itself made of one job share its lineage."""
    return frozenset(sighting.lineage or f"{sighting.job.identity}/{sighting.job.id}" for sighting in found)


def absence_evidence(stage: InDoubt) -> SubmissionAbsent | None:
    """The verdict "absent", if the look-ups since the grace prove it."""
    terms, looks = stage.intent.terms, _counted(stage)
    if not looks:
        return None
    if terms.authoritative_negative:
        evidence = f"the platform's own record has no {stage.intent.job_name!r}; its negative by name is authoritative"
        return SubmissionAbsent(evidence=evidence, looked_up_at=(looks[-1].at,))
    first, last = looks[0], looks[-1]
    if last.at - first.at < timedelta(seconds=terms.settle_s):
        return None
    evidence = (
        f"two complete look-ups, {(last.at - first.at).total_seconds():g} s apart (settle time {terms.settle_s:g} s: "
        f"{terms.settle_source}), show no {stage.intent.job_name!r} but do show {first.control} and {last.control}"
    )
    return SubmissionAbsent(evidence=evidence, looked_up_at=(first.at, last.at))


def next_look_at(stage: InDoubt) -> datetime:
    """When to look next: at once (a job may be there to adopt), after the grace, then a settle time apart."""
    if not stage.looks:
        return stage.since
    terms, last = stage.intent.terms, stage.looks[-1]
    grace_ends = stage.since + timedelta(seconds=terms.grace_s)
    if last.at < grace_ends:
        return max(grace_ends, last.at + LOOK_EVERY_MIN)
    settle = max(timedelta(seconds=terms.settle_s), LOOK_EVERY_MIN)
    if _counts(last, stage):
        return last.at + settle
    return last.at + min(settle * float(2 ** min(_useless_run(stage), 8)), max(BACK_OFF_MAX, settle))


def next_name_watch_at(stage: Settled) -> datetime | None:
    """When to look again at the name of a launch without a job; None once the watch is over."""
    return stage.at + NAME_WATCH[stage.looks] if stage.looks < len(NAME_WATCH) else None


def _counted(stage: InDoubt) -> tuple[Look, ...]:
    """The look-ups since the last one that proves nothing."""
    counted: list[Look] = []
    for look in reversed(stage.looks):
        if not _counts(look, stage):
            break
        counted.append(look)
    return tuple(reversed(counted))


def _counts(look: Look, stage: InDoubt) -> bool:
    terms = stage.intent.terms
    late_enough = look.at >= stage.since + timedelta(seconds=terms.grace_s)
    controlled = terms.authoritative_negative or look.control is not None
    return look.complete and late_enough and controlled and not look.found


def _useless_run(stage: InDoubt) -> int:
    run = 0
    for look in reversed(stage.looks):
        if _counts(look, stage):
            break
        run += 1
    return run
