"""The `gonogo` command: what it understands, and which file does it. Handlers are imported only when they are called."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import _SubParsersAction  # pyright: ignore[reportPrivateUsage] - the only name argparse gives it

    Commands = _SubParsersAction[argparse.ArgumentParser]

LATER = ("models", "image", "plan", "placeholders")
"""Commands of later platforms: named, so that nobody takes their absence for a typo."""


def parser() -> argparse.ArgumentParser:
    """The whole grammar."""
    root = argparse.ArgumentParser(
        prog="gonogo",
        description="Launch control of GPU training: polls every station, pushes the button exactly once, watches the job.",
        epilog="exit codes: 0 ok · 1 no-go or declined · 2 usage · 3 unknown or in doubt · 4 nothing was sent · "
        "5 still going or waiting for a person · 6 the job failed, was cancelled or stopped",
    )
    root.add_argument("--version", action="store_true", help="print the version")
    commands = root.add_subparsers(dest="command", metavar="COMMAND")
    _add_running(commands)
    _add_asking(commands)
    _add_answering(commands)
    _add_reading(commands)
    _add_helping(commands)
    return root


def _command(commands: Commands, name: str, handler: str, text: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text)
    command.add_argument(
        "--data-dir", help="the installation's folder (default: GONOGO_DATA_DIR, ~/.local/share/gonogo)"
    )
    command.add_argument(
        "--nats", metavar="URL", help="a broker of your own (default: GONOGO_NATS_URL, the embedded one)"
    )
    command.add_argument("--json", action="store_true", help="one JSON document on stdout")
    command.set_defaults(handler=handler)
    return command


def _add_running(commands: Commands) -> None:
    _command(commands, "demo", "demo:demo", "everything embedded: a real small training run, a crash, and its audit")
    run = _command(commands, "run", "run:run", "up, launch and wait in one: the shortest way to a real job")
    run.add_argument("file", help="a request file (YAML, JSON or TOML), or - for stdin")
    run.add_argument("--set", action="append", default=[], metavar="K=V", help="change a field of the file")
    run.add_argument("--key", help="the request key")
    run.add_argument("--again", action="store_true", help="a new launch of the same request")
    run.add_argument("--yes", action="store_true", help="authorize it now (with --basis)")
    run.add_argument("--basis", help="who allowed it, where and when")
    up = _command(commands, "up", "up:up", "run the workers, with an embedded broker when no URL is given")
    up.add_argument("--workers", help="some of: intake,preflight,placeholder_manager,submitter,watcher,notifier")
    up.add_argument(
        "--port", type=int, help="port of the embedded broker (default: the one used before, else a free one)"
    )
    _command(
        commands, "streams", "streams:streams", "make the streams at a broker of your own, and check that it is fit"
    )
    work = _command(commands, "work", "up:work", "run one worker in this process (what `up` starts)")
    work.add_argument("worker", help="the worker's name")


def _add_asking(commands: Commands) -> None:
    launch = _command(commands, "launch", "launch:launch", "ask for a launch")
    launch.add_argument("file", help="a request file (YAML, JSON or TOML), or - for stdin")
    launch.add_argument("--set", action="append", default=[], metavar="K=V", help="change a field of the file")
    launch.add_argument("--key", help="the request key; the same key and request are the same launch")
    launch.add_argument("--again", action="store_true", help="a new launch of the same request")
    launch.add_argument("--dry-run", action="store_true", help="run all checks, print the review, create nothing")
    launch.add_argument("--yes", action="store_true", help="authorize it now (with --basis)")
    launch.add_argument("--basis", help="who allowed it, where and when")
    launch.add_argument("--wait", action="store_true", help="wait for its end")
    init = _command(commands, "init", "init:init", "print a commented request file")
    init.add_argument("platform", help="the platform it is for")


def _add_answering(commands: Commands) -> None:
    for name, text in (("approve", "say yes to a plan"), ("decline", "say no to a plan")):
        command = _word(commands, name, text)
        command.add_argument("--digest", required=True, help="the plan's digest, as the review shows it")
        command.add_argument("--basis", help="why")
    _word(commands, "cancel", "end a launch: nothing is sent, or its job is stopped").add_argument("--reason")
    _word(commands, "detach", "end the watch; the job goes on")
    _word(commands, "recheck", "run the checks again").add_argument("--fixed", help="what was mended")
    resolve = _word(commands, "resolve", "settle a doubt by a person's word")
    which = resolve.add_mutually_exclusive_group(required=True)
    which.add_argument("--job", metavar="ID", help="this is the job")
    which.add_argument("--absent", action="store_true", help="there is no job")
    resolve.add_argument("--evidence", required=True, help="where you looked and what you saw")
    attest = _word(commands, "attest", "vouch for what a check cannot see")
    attest.add_argument("check")
    attest.add_argument("--evidence", required=True, help="what you know, and from where")


def _word(commands: Commands, name: str, text: str) -> argparse.ArgumentParser:
    command = _command(commands, name, "words:say", text)
    command.add_argument("launch", help="a launch id, or a unique beginning of it")
    command.add_argument("--by", help="your name, recorded as claimed")
    return command


def _add_reading(commands: Commands) -> None:
    listing = _command(commands, "list", "listing:list_launches", "list launches, newest first")
    listing.add_argument("--state", action="append", default=[], help="only in this standing (may be repeated)")
    _command(commands, "show", "listing:show", "everything about one launch").add_argument("launch")
    watch = _command(commands, "watch", "watch:watch", "follow one launch, or all of them")
    watch.add_argument("launch", nargs="?")
    logs = _command(commands, "logs", "logs:logs", "the end of a job's output")
    logs.add_argument("launch")
    logs.add_argument("-f", "--follow", action="store_true", help="go on until the job ends")
    logs.add_argument("--bytes", type=int, default=65536, help="how much of the end")
    replay = _command(
        commands, "replay", "replay:replay", "the audit: every step, what was decided, what should have been"
    )
    replay.add_argument("launch", nargs="?")
    replay.add_argument("--until", help="a sequence or an ISO time")
    replay.add_argument("--step", action="store_true", help="show what is true after each step")
    replay.add_argument("--verify", action="store_true", help="check every invariant; exit 1 if one is broken")
    replay.add_argument("--export", metavar="FILE", help="write the messages as JSON lines")
    replay.add_argument("--from", dest="source", metavar="FILE", help="read exported messages instead of the log")


def _add_helping(commands: Commands) -> None:
    _command(commands, "platforms", "helping:platforms", "what each platform can do here")
    _command(commands, "config", "helping:config", "every setting and where it comes from, secrets masked")
    doctor = _command(commands, "doctor", "doctor:doctor", "is this installation fit and alive?")
    doctor.add_argument("--worker", help="only: is this worker alive? (exit code)")
    events = _command(commands, "events", "helping:events", "the catalogue of events")
    events.add_argument("what", nargs="?", choices=("schema",), help="schema: JSON Schemas of every event")
    notify = _command(commands, "notify", "notify:notify", "test a channel, or preview the notices of a launch")
    notify.add_argument("what", choices=("test", "preview"))
    notify.add_argument("target", help="a channel (test) or a launch (preview)")
    _command(commands, "bench", "helping:bench", "how to measure this installation")
    for name in LATER:
        later = _command(commands, name, "helping:later", "not in this version")
        later.add_argument("rest", nargs=argparse.REMAINDER)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    from gonogo.services.cli.output import CommandError, print_error

    grammar = parser()
    parsed = grammar.parse_args(arguments)
    if parsed.version:
        return _version()
    if parsed.command is None:
        grammar.print_help()
        return 2
    module, _, function = parsed.handler.partition(":")
    try:
        return int(getattr(importlib.import_module(f"gonogo.services.cli.{module}"), function)(parsed))
    except CommandError as error:
        print_error(error, as_json=parsed.json)
        return error.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141


def _version() -> int:
    from importlib.metadata import version

    print(f"gonogo {version('gonogo')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
