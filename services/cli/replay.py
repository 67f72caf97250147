"""`gonogo replay`: the audit. Per step the time, who, what was said, what became true, and what today's decider says.

Performs nothing. What is exported and read back gives the same answer, byte for byte.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from gonogo.events import codec
from gonogo.events.envelope import Entry, LogItem, Unreadable, Utterance
from gonogo.events.ids import History, launch_history
from gonogo.events.subjects import event_subject
from gonogo.projections.replay import Step, by_history, steps, verify
from gonogo.services.cli.output import NO, OK, USAGE, print_json, stop
from gonogo.services.cli.session import full_id, place_of, reading
from gonogo.services.runtime.audit import Opinion, opinions


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """One line of an export: a message exactly as the log has it."""

    sequence: int
    stored_at: datetime
    subject: str
    events: msgspec.Raw


def replay(arguments: argparse.Namespace) -> int:
    """Replay one launch or the whole log; exit 1 when `--verify` finds something or a decision differs."""
    items = _until(asyncio.run(_items(arguments)), arguments.until)
    if arguments.export:
        return _export(items, Path(arguments.export))
    histories = {h: m for h, m in by_history(items).items() if h.kind == "launch"}
    audits = {history: opinions(members) for history, members in histories.items()}
    broken = verify(items) if arguments.verify else ()
    differing = sum(opinion.agrees is False for audit in audits.values() for opinion in audit.values())
    if arguments.json:
        print_json(_document(histories, audits, broken, verified=arguments.verify))
    else:
        for history, members in histories.items():
            _print(history, members, audits[history], step=arguments.step)
        _print_end(len(items), broken, differing, verified=arguments.verify)
    return NO if broken or differing else OK


async def _items(arguments: argparse.Namespace) -> tuple[LogItem, ...]:
    if arguments.source:
        return _import(Path(arguments.source), arguments.launch)
    place = place_of(arguments)
    async with reading(place) as log:
        if arguments.launch:
            launch = full_id(place, arguments.launch)
            found = await log.read(launch_history(launch))
            if not found:
                stop(USAGE, f"there is no launch {launch}", fix="see: gonogo list", path="launch")
            return found
        tail, items = await log.tail(), list[LogItem]()
        if tail:
            async for batch in log.follow(after=0):
                items.extend(batch)
                if items[-1].sequence >= tail:
                    break
        return tuple(items)


def _until(items: tuple[LogItem, ...], until: str | None) -> tuple[LogItem, ...]:
    if until is None:
        return items
    if until.isdigit():
        return tuple(item for item in items if item.sequence <= int(until))
    try:
        moment = datetime.fromisoformat(until)
    except ValueError:
        stop(USAGE, f"{until!r} is neither a sequence nor a time", fix="e.g. 120 or 2026-12-01T10:00:00Z", path="until")
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return tuple(item for item in items if isinstance(item, Entry) and item.stored_at <= moment)


def _export(items: tuple[LogItem, ...], path: Path) -> int:
    with path.open("wb") as file:
        for item in items:
            if isinstance(item, Entry):
                body = codec.encode(Utterance(history=item.history, role=item.role, said=item.said))
                line = Exported(
                    sequence=item.sequence,
                    stored_at=item.stored_at,
                    subject=event_subject(item.history, item.role),
                    events=msgspec.Raw(body),
                )
                file.write(msgspec.json.encode(line) + b"\n")
    print(f"{len(items)} messages written to {path}")
    return OK


def _import(path: Path, launch: str | None) -> tuple[LogItem, ...]:
    try:
        lines = path.read_bytes().splitlines()
        exported = [msgspec.json.decode(line, type=Exported) for line in lines if line.strip()]
    except (OSError, msgspec.MsgspecError) as error:
        stop(USAGE, f"{path} is not an export: {error}", fix="make one with: gonogo replay --export FILE", path="from")
    items = tuple(
        codec.decode(line.subject, bytes(line.events), sequence=line.sequence, stored_at=line.stored_at)
        for line in exported
    )
    return tuple(i for i in items if launch is None or (i.history is not None and i.history.id.startswith(launch)))


def print_launches(items: Sequence[LogItem]) -> None:
    """Every launch in these messages, step by step."""
    for history, members in by_history(items).items():
        if history.kind == "launch":
            _print(history, members, opinions(members), step=False)


def _print(history: History, items: list[LogItem], audit: dict[int, Opinion], *, step: bool) -> None:
    print(f"\n{history}")
    for made in steps(items):
        if isinstance(made, Unreadable):
            print(f"  {made.sequence:>6}  UNREADABLE  {made.reason}")
            continue
        _print_step(made, audit[made.entry.sequence], step=step)


def _print_step(made: Step, opinion: Opinion, *, step: bool) -> None:
    entry = made.entry
    said = entry.said[0]
    names = " ".join(type(one.event).__name__ for one in entry.said)
    became = made.after.standing if made.after.standing != made.before.standing else "·"
    print(f"  {entry.sequence:>6}  {entry.stored_at:%H:%M:%S.%f}"[:-3] + f"  {entry.role:<11} {names}")
    print(
        f"          by {said.instance}, {said.trigger}, because of {said.caused_by or '-'}  →  {became}  {_told(opinion)}"
    )
    if step:
        for name, value in _changes(made).items():
            print(f"            {name}: {value}")
        for one in entry.said:
            print(f"            {msgspec.json.encode(one.event).decode()[:400]}")


def _told(opinion: Opinion) -> str:
    if opinion.agrees is None:
        return "(a fact)"
    if opinion.agrees:
        return "(decided again: the same)"
    return f"(DIFFERS: today {' '.join(opinion.would_say) or 'nothing'} would be said)"


def _changes(made: Step) -> dict[str, str]:
    before, after = msgspec.to_builtins(made.before), msgspec.to_builtins(made.after)
    skip = ("version", "updated_at", "words")
    return {name: str(after[name]) for name in after if name not in skip and after[name] != before[name]}


def _print_end(count: int, broken: tuple[Any, ...], differing: int, *, verified: bool) -> None:
    for violation in broken:
        print(f"VIOLATION {violation.invariant} at {violation.sequence}: {violation.what}")
    told = f", {len(broken)} violations" if verified else ""
    print(f"\n{count} messages replayed, {differing} decisions differ{told}, nothing was performed")


def _document(
    histories: dict[History, list[LogItem]],
    audits: dict[History, dict[int, Opinion]],
    broken: tuple[Any, ...],
    *,
    verified: bool,
) -> dict[str, object]:
    launches = [
        {"launch": history.id, "steps": [_step_document(made, audits[history]) for made in steps(members)]}
        for history, members in histories.items()
    ]
    return {"launches": launches, "verified": verified, "violations": broken}


def _step_document(made: Step | Unreadable, audit: dict[int, Opinion]) -> dict[str, object]:
    if isinstance(made, Unreadable):
        return {"sequence": made.sequence, "unreadable": made.reason}
    entry = made.entry
    return {
        "sequence": entry.sequence,
        "stored_at": entry.stored_at,
        "role": entry.role,
        "instance": entry.said[0].instance,
        "trigger": entry.said[0].trigger,
        "caused_by": entry.said[0].caused_by,
        "events": [{"type": type(said.event).__name__, "data": said.event} for said in entry.said],
        "standing": made.after.standing,
        "today": audit[entry.sequence],
    }
