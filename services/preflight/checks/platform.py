"""Whether the platform can do what the request asks of it."""

from __future__ import annotations

from gonogo.services.preflight.poll import Station, Verdict


async def check_platform(station: Station) -> Verdict:
    """The backend's own list of what it cannot do; pure, so it is the same answer the dry run gives."""
    problems = station.backend.problems(station.request)
    if problems:
        told = "; ".join(f"{p.path}: {p.problem}" for p in problems)
        return station.no_go("platform", told, fix="; ".join(p.fix for p in problems))
    platform = station.backend.capabilities.platform
    return station.go("platform", f"{platform} can do everything this request asks for")
