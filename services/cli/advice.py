"""What makes sense now: from a launch's standing to the commands that lead on. Pure."""

from __future__ import annotations

from gonogo.projections.launches import Launch
from gonogo.services.cli.output import FAILED, GOING, NO, OK, UNKNOWN

EXIT_OF: dict[str, int] = {
    "succeeded": OK,
    "unwatched": OK,
    "superseded": OK,
    "no-go": NO,
    "declined": NO,
    "rejected": NO,
    "absent": NO,
    "withheld": NO,
    "in-doubt": UNKNOWN,
    "conflict": UNKNOWN,
    "unreadable": UNKNOWN,
    "failed": FAILED,
    "cancelled": FAILED,
    "stopped": FAILED,
    "duplicate-stopped": FAILED,
}


def exit_code_of(launch: Launch) -> int:
    """The exit code that a command ends with on this launch."""
    return EXIT_OF.get(launch.standing, GOING)


def next_commands(launch: Launch) -> list[str]:
    """Commands that make sense now, the likeliest first."""
    show, replay = f"gonogo show {launch.id}", f"gonogo replay {launch.id}"
    match launch.standing:
        case "awaiting-review":
            digest = f"--digest {launch.plan_digest}"
            return [show, f"gonogo approve {launch.id} {digest}", f"gonogo decline {launch.id} {digest}"]
        case "no-go":
            attest = f"gonogo attest {launch.id} CHECK --evidence TEXT"
            return [show, f"gonogo recheck {launch.id} --fixed TEXT", attest, f"gonogo cancel {launch.id}"]
        case "in-doubt" | "conflict":
            resolve = f"gonogo resolve {launch.id} --job ID --evidence TEXT"
            return [show, resolve, f"gonogo resolve {launch.id} --absent --evidence TEXT", replay]
        case "absent" | "rejected" | "withheld":
            return [replay, "gonogo launch FILE --again    (with recovery_of in the file)"]
        case "succeeded" | "failed" | "cancelled" | "stopped" | "duplicate-stopped":
            return [f"gonogo logs {launch.id}", replay]
        case "unreadable" | "declined" | "superseded" | "unwatched":
            return [replay]
        case _:
            return [f"gonogo watch {launch.id}", f"gonogo logs {launch.id} -f", f"gonogo cancel {launch.id}"]
