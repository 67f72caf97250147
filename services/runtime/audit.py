"""Recompute every decision of a recorded history, and say where today's deciders would have decided otherwise.

Each recorded decision was appended at the version it was made on, so the state it was made from is exactly the fold of
everything before it; the trigger and the decider's clock stand in the envelope. Outcomes are facts and are not recomputed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from gonogo.events.base import Event, Role
from gonogo.events.envelope import Entry, LogItem, Said
from gonogo.events.ids import launch_id
from gonogo.events.launch import LaunchAccepted, LaunchPlanned, plan_digest
from gonogo.events.request import request_digest
from gonogo.projections import jobs, placeholders, preflights, submissions
from gonogo.services.placeholder_manager.decider import decide as decide_placeholder
from gonogo.services.preflight.decider import decide as decide_preflight
from gonogo.services.runtime.decision import Due, Recovered, Trigger, Woken
from gonogo.services.submitter.decider import decide as decide_submitter
from gonogo.services.watcher.decider import decide as decide_watcher

_DECIDERS: dict[Role, tuple[Any, Any, Any]] = {
    "preflight": (preflights.INITIAL, preflights.evolve, decide_preflight),
    "placeholder": (placeholders.INITIAL, placeholders.evolve, decide_placeholder),
    "submitter": (submissions.INITIAL, submissions.evolve, decide_submitter),
    "watcher": (jobs.INITIAL, jobs.evolve, decide_watcher),
}


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What today's decider says about one recorded message. `agrees` is None where there is nothing to recompute."""

    sequence: int
    agrees: bool | None
    would_say: tuple[str, ...] = ()


def opinions(items: Sequence[LogItem]) -> dict[int, Opinion]:
    """An opinion on every message of one launch's history, by sequence."""
    states: dict[Role, Any] = {role: initial for role, (initial, _, _) in _DECIDERS.items()}
    found: dict[int, Opinion] = {}
    for item in items:
        if not isinstance(item, Entry):
            continue
        found[item.sequence] = _opinion(item, states)
        for role, (_, evolve, _) in _DECIDERS.items():
            for said in item.said:
                states[role] = evolve(states[role], said)
    return found


def _opinion(entry: Entry, states: dict[Role, Any]) -> Opinion:
    if entry.role == "intake":
        return _intake(entry)
    first = entry.said[0]
    trigger = _trigger(first)
    if trigger is None or entry.role not in _DECIDERS:
        return Opinion(sequence=entry.sequence, agrees=None)
    _, _, decide = _DECIDERS[entry.role]
    decided: tuple[Event, ...] = decide(states[entry.role], trigger).record
    recorded = tuple(said.event for said in entry.said)
    told = tuple(type(event).__name__ for event in decided)
    return Opinion(sequence=entry.sequence, agrees=decided == recorded, would_say=told)


def _trigger(said: Said) -> Trigger | None:
    match said.trigger:
        case "woken":
            return Woken(said.recorded_at)
        case "due":
            return Due(said.recorded_at)
        case "recovered":
            return Recovered(said.recorded_at)
        case _:
            return None


def _intake(entry: Entry) -> Opinion:
    """An acceptance is recomputed as far as it goes without its platform: the digests and the id."""
    events = [said.event for said in entry.said]
    match events:
        case [LaunchAccepted() as accepted, LaunchPlanned() as planned]:
            agrees = (
                request_digest(accepted.request) == accepted.digest
                and launch_id(accepted.person.client, accepted.key) == entry.history.id
                and plan_digest(planned.plan) == planned.plan_digest
            )
            return Opinion(sequence=entry.sequence, agrees=agrees, would_say=("LaunchAccepted", "LaunchPlanned"))
        case _:
            return Opinion(sequence=entry.sequence, agrees=None)
