"""`gonogo list` and `gonogo show`: what the projections say. Reads the file alone, so it starts in a blink."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import get_args

from gonogo.projections.launches import Launch, Standing
from gonogo.projections.store import StoreBrokenError, read_launches, read_unreadable
from gonogo.services.cli.advice import exit_code_of, next_commands
from gonogo.services.cli.output import OK, USAGE, pairs, print_json, stop, table
from gonogo.services.runtime.data_dir import DataDir


def list_launches(arguments: argparse.Namespace) -> int:
    """Every launch, newest first."""
    unknown = set(arguments.state) - set(get_args(Standing))
    if unknown:
        known = ", ".join(get_args(Standing))
        stop(USAGE, f"there is no standing {', '.join(sorted(unknown))}", fix=f"use some of: {known}", path="state")
    launches = _read(arguments)
    if arguments.json:
        print_json([as_document(launch) for launch in launches])
        return OK
    rows = [
        (launch.id, launch.standing, launch.name, launch.platform, launch.job.id if launch.job else "-", _when(launch))
        for launch in launches
    ]
    table(("launch", "standing", "name", "platform", "job", "accepted"), rows)
    return OK


def show(arguments: argparse.Namespace) -> int:
    """One launch; the exit code is its standing's."""
    return asyncio.run(_show(arguments))


async def _show(arguments: argparse.Namespace) -> int:
    from gonogo.services.cli.review import print_review
    from gonogo.services.cli.session import fold_launch, full_id, place_of, reading

    place = place_of(arguments)
    launch_id = full_id(place, arguments.launch)
    async with reading(place) as log:
        launch = await fold_launch(log, launch_id)
        if not launch.exists:
            stop(USAGE, f"there is no launch {launch_id}", fix="see: gonogo list", path="launch")
        if arguments.json:
            print_json(as_document(launch))
            return exit_code_of(launch)
        pairs({key: value for key, value in as_document(launch).items() if key != "next"})
        await print_review(log, launch, stream=sys.stdout)
    print("next:")
    for command in next_commands(launch):
        print(f"    {command}")
    return exit_code_of(launch)


def as_document(launch: Launch) -> dict[str, object]:
    """A launch as `--json` shows it."""
    return {
        "launch": launch.id,
        "name": launch.name,
        "standing": launch.standing,
        "detail": launch.detail,
        "platform": launch.platform,
        "queue": launch.queue,
        "job": {"id": launch.job.id, "name": launch.job.name, "identity": launch.job.identity} if launch.job else None,
        "status": launch.raw,
        "degraded": launch.degraded,
        "review": launch.review,
        "plan_digest": launch.plan_digest,
        "output": launch.output,
        "asked_by": str(launch.person) if launch.person else None,
        "key": launch.key,
        "superseded_by": launch.superseded_by,
        "recovery_of": launch.recovery_of,
        "accepted_at": _when(launch),
        "next": next_commands(launch),
    }


def _when(launch: Launch) -> str:
    return launch.accepted_at.isoformat(timespec="seconds") if launch.accepted_at else ""


def _read(arguments: argparse.Namespace) -> list[Launch]:
    import os

    from gonogo.services.runtime.places import find_place

    place = find_place(os.environ, data_dir=arguments.data_dir, nats_url=arguments.nats)
    if place.nats_url is not None:
        asyncio.run(_catch_up(arguments))
    views = DataDir(place.data_dir).views
    try:
        for sequence, history, reason in read_unreadable(views):
            print(f"! message {sequence} ({history}) cannot be read: {reason}", file=sys.stderr)
        return read_launches(views, standings=arguments.state)
    except StoreBrokenError as error:
        stop(USAGE, str(error), fix="delete that file")


async def _catch_up(arguments: argparse.Namespace) -> None:
    """With a broker of one's own nobody keeps this host's file up to date, so this command does."""
    from gonogo.projections.store import Store
    from gonogo.services.cli.session import place_of, reading
    from gonogo.services.runtime.viewer import Viewer

    place = place_of(arguments)
    DataDir(place.data_dir).prepare()
    store = Store(DataDir(place.data_dir).views)
    await store.open()
    try:
        async with reading(place) as log:
            await Viewer(log, store, None).catch_up()
    finally:
        await store.close()
