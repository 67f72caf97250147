"""Whether the code is where the job will look for it."""

from __future__ import annotations

from gonogo.services.backends.port import PlatformError
from gonogo.services.preflight.poll import Station, Verdict


async def check_code_root(station: Station) -> Verdict | None:
    """The code root must be a folder, as seen by the backend."""
    code = station.request.code
    if code is None:
        return None
    try:
        (fact,) = await station.backend.check_paths((code,))
    except PlatformError as error:
        return station.blind("code", f"{code} cannot be looked at: {error}")
    if not fact.exists:
        fix = "put the code there, or correct `code`"
        return station.no_go("code", f"{code} does not exist", fix=fix, viewpoint=fact.viewpoint)
    if not fact.is_dir:
        fix = "name the folder that holds the code"
        return station.no_go("code", f"{code} is not a folder", fix=fix, viewpoint=fact.viewpoint)
    return station.go(
        "code", f"{code} is a folder; its content is read as it is when the job starts", viewpoint=fact.viewpoint
    )
