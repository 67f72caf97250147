"""Can the platform be reached and read with the credentials we have? Reading proves reading; not that create is allowed."""

from __future__ import annotations

from gonogo.services.backends.port import PlatformError, elsewhere
from gonogo.services.preflight.poll import Station, Verdict


async def check_access(station: Station) -> Verdict:
    """One read-only question to the platform."""
    blind = elsewhere(station.backend, station.plan.target)
    if blind is not None:
        return station.no_go("access", blind, fix="start the workers on one host with one data dir")
    try:
        evidence = await station.backend.probe()
    except PlatformError as error:
        fix = "mend the access, then: gonogo recheck"
        return station.no_go("access", f"the platform cannot be read: {error}", fix=fix)
    return station.go("access", f"{evidence}; create is not proven by this")
