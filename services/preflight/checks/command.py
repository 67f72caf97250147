"""Whether there is something to run, and the machine that runs it can find it."""

from __future__ import annotations

import shutil

from gonogo.services.preflight.poll import Station, Verdict

_LOCAL = "local"
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


async def check_command(station: Station) -> Verdict | None:
    """On the local platform the program must be on the path that the job will have; elsewhere this cannot be seen."""
    command = station.request.run.command
    if command is None:
        return None
    if station.request.platform != _LOCAL:
        return station.go("command", f"the command is {' '.join(command)!r}; the job's own image must hold its program")
    program = command[0]
    path = station.request.env.get("PATH") or station.environment.get("PATH") or DEFAULT_PATH
    found = shutil.which(program, path=path)
    if found is None and station.request.code is not None:
        found = shutil.which(f"{station.request.code}/{program}")
    if found is None:
        problem = f"the program {program!r} is not on the job's path ({path})"
        return station.no_go("command", problem, fix="install it, or name it by its absolute path")
    return station.go("command", f"{program} is {found}")
