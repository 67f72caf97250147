"""Is the output place free, and can the job write there? Results of an earlier run are never overwritten."""

from __future__ import annotations

from pathlib import PurePosixPath

from gonogo.services.backends.port import PlatformError
from gonogo.services.preflight.poll import Station, Verdict


async def check_output(station: Station) -> Verdict | None:
    """The output must be absent, and its nearest existing parent writable."""
    output = station.request.output
    if output is None:
        return None
    parents = [str(parent) for parent in PurePosixPath(output).parents]
    try:
        fact, *above = await station.backend.check_paths((output, *parents))
    except PlatformError as error:
        return station.blind("output", f"{output} cannot be looked at: {error}")
    if fact.exists:
        fix = "choose another `output`, or move the old results away"
        return station.no_go("output", f"{output} exists already", fix=fix, viewpoint=fact.viewpoint)
    nearest = next((parent for parent in above if parent.exists), None)
    if nearest is None or not nearest.is_dir or not nearest.writable:
        place = nearest.path if nearest else output
        fix = "make it writable for the job's user, or choose another `output`"
        return station.no_go("output", f"{place} cannot be written to", fix=fix, viewpoint=fact.viewpoint)
    return station.go("output", f"{output} is free and {nearest.path} is writable", viewpoint=fact.viewpoint)
