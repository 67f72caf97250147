"""Whether every secret that the request names can be read, right now, where create will read it."""

from __future__ import annotations

from gonogo.services.preflight.poll import Station, Verdict
from gonogo.services.runtime.secrets import MissingSecretError, read_secret


async def check_secrets(station: Station) -> Verdict | None:
    """Read each one and forget it; the evidence names references only."""
    references = station.request.secrets
    if not references:
        return None
    missing = [problem for problem in (_missing(ref, station) for ref in references.values()) if problem]
    if missing:
        return station.no_go("secrets", "; ".join(missing), fix="provide them, then: gonogo recheck")
    return station.go("secrets", "readable: " + ", ".join(sorted(references.values())))


def _missing(reference: str, station: Station) -> str | None:
    try:
        read_secret(reference, station.environment)
    except MissingSecretError as error:
        return str(error)
    return None
