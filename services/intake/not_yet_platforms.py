"""Every platform name the schema knows, for readers that do not judge what an installation can do."""

from __future__ import annotations

from typing import get_args

from gonogo.events.request import Platform

EVERY_PLATFORM: tuple[str, ...] = get_args(Platform)
