"""Is there room for the output at all? A full disk is a failed run hours later."""

from __future__ import annotations

import shutil
from pathlib import Path

from gonogo.services.preflight.poll import Station, Verdict

FREE_MIN = 256 * 1024 * 1024
"""Bytes. Not a promise that the results fit: below this not even logs and a first checkpoint do."""


async def check_disk(station: Station) -> Verdict | None:
    """Look at the free space of the place that will hold the output, where it is this host's."""
    if station.request.platform != "local" or station.request.output is None:
        return None
    place = _nearest(Path(station.request.output))
    free = shutil.disk_usage(place).free
    if free < FREE_MIN:
        problem = f"{place} has {free // 2**20} MiB free, less than {FREE_MIN // 2**20} MiB"
        return station.no_go("disk", problem, fix="free some space, or choose another `output`")
    return station.go("disk", f"{place} has {free // 2**20} MiB free")


def _nearest(path: Path) -> Path:
    return next(parent for parent in (path, *path.parents) if parent.exists())
