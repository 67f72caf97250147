"""Commands that explain: platforms, config, events, bench; and those that a later version brings."""

from __future__ import annotations

import argparse
import os

import msgspec

from gonogo.services.cli.output import OK, USAGE, print_json, stop, table


def platforms(arguments: argparse.Namespace) -> int:
    """What each platform of this installation can do."""
    from gonogo.services.cli.session import place_of
    from gonogo.services.runtime.crew import backends_for
    from gonogo.services.runtime.data_dir import DataDir

    backends = backends_for(DataDir(place_of(arguments).data_dir), os.environ)
    if arguments.json:
        print_json([backend.capabilities for backend in backends.values()])
        return OK
    rows: list[tuple[str, str, str, str]] = []
    for name, backend in backends.items():
        can = backend.capabilities
        absence = "by name" if can.terms.authoritative_negative else f"two look-ups {can.terms.settle_s:g} s apart"
        rows.append((name, absence, f"{can.terms.grace_s:g} s", can.guard_note))
    table(("platform", "absence proven", "grace", "start guard"), rows)
    return OK


def config(arguments: argparse.Namespace) -> int:
    """Every setting, its value and its meaning; secrets masked."""
    from gonogo.services.cli.session import place_of
    from gonogo.services.cli.up import settings_of
    from gonogo.services.runtime.settings import Settings

    settings = settings_of(place_of(arguments))
    values = {name: str(getattr(settings, name)) for name in Settings.model_fields}
    if arguments.json:
        print_json(values)
        return OK
    rows = [
        (f"GONOGO_{name.upper()}", values[name], field.description or "")
        for name, field in Settings.model_fields.items()
    ]
    table(("variable", "value", "meaning"), rows)
    return OK


def events(arguments: argparse.Namespace) -> int:
    """The catalogue, or its JSON Schemas."""
    from gonogo.events.catalogue import EVENTS, dataschema_of

    if arguments.what == "schema" or arguments.json:
        _, schemas = msgspec.json.schema_components(EVENTS.values(), ref_template="#/$defs/{name}")
        print_json({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": schemas})
        return OK
    rows = [
        (name, dataschema_of(cls), ", ".join(sorted(cls.SPOKEN.roles)), (cls.__doc__ or "").strip().splitlines()[0])
        for name, cls in EVENTS.items()
    ]
    table(("event", "schema", "said by", "meaning"), rows)
    return OK


def bench(arguments: argparse.Namespace) -> int:
    """Measuring needs the project's own checkout."""
    _ = arguments
    stop(USAGE, "measuring needs a checkout of gonogo", fix="in one, run: make bench")


def later(arguments: argparse.Namespace) -> int:
    """A command of a later version, by name."""
    stop(USAGE, f"gonogo {arguments.command} is not in this version", fix="see CHANGELOG.md for what is")
