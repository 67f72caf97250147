"""Read a history again, step by step: what was said, and what was true after it. Performs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gonogo.events.envelope import Entry, LogItem, Said, Unreadable
from gonogo.events.ids import History
from gonogo.projections.invariants import Violation, violations
from gonogo.projections.launches import INITIAL, Launch, evolve


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a launch: what was said, what was true before and after."""

    entry: Entry
    before: Launch
    after: Launch


def steps(items: Sequence[LogItem]) -> Iterator[Step | Unreadable]:
    """The steps of one launch's history."""
    state = INITIAL
    for item in items:
        if isinstance(item, Unreadable):
            yield item
            continue
        before = state
        for said in item.said:
            state = evolve(state, said)
        yield Step(entry=item, before=before, after=state)


def by_history(items: Sequence[LogItem]) -> dict[History, list[LogItem]]:
    """The messages of a log, sorted into their histories, each in order."""
    sorted_: dict[History, list[LogItem]] = {}
    for item in items:
        if item.history is not None:
            sorted_.setdefault(item.history, []).append(item)
    return sorted_


def verify(items: Sequence[LogItem]) -> tuple[Violation, ...]:
    """Everything that is wrong with a log, by itself."""
    found: list[Violation] = []
    last = 0
    for item in items:
        if item.sequence <= last:
            what = f"sequence {item.sequence} after {last}"
            found.append(Violation(invariant="sequences_rise", sequence=item.sequence, what=what))
        last = item.sequence
        if isinstance(item, Unreadable):
            found.append(Violation(invariant="every_message_is_readable", sequence=item.sequence, what=item.reason))
    for history, members in by_history(items).items():
        said = [said for item in members if isinstance(item, Entry) for said in item.said]
        found.extend(violations(history.kind, said))
    return tuple(found)


def all_said(items: Sequence[LogItem]) -> Iterator[Said]:
    """Every event of the readable messages, in order."""
    for item in items:
        if isinstance(item, Entry):
            yield from item.said
