"""Where this installation is: the same flags, variables and defaults for `up` and for every client command.

Kept apart from the settings because a command that only reads must start in a blink.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

DATA_DIR_VARIABLE = "GONOGO_DATA_DIR"
NATS_VARIABLE = "GONOGO_NATS_URL"
USER_VARIABLE = "GONOGO_NATS_USER"
PASSWORD_VARIABLE = "GONOGO_NATS_PASSWORD"  # noqa: S105 - the variable's name
CLIENT_VARIABLE = "GONOGO_CLIENT"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A data dir, and a broker of one's own choice if `nats_url` is set."""

    data_dir: Path
    nats_url: str | None = None
    user: str | None = None
    password: str | None = None
    client: str = "local"


def find_place(environment: Mapping[str, str], *, data_dir: str | None = None, nats_url: str | None = None) -> Place:
    """Flags first, then variables, then the user's own data folder."""
    home = environment.get("XDG_DATA_HOME") or str(Path(environment.get("HOME") or "~").expanduser() / ".local/share")
    root = data_dir or environment.get(DATA_DIR_VARIABLE) or f"{home}/gonogo"
    return Place(
        data_dir=Path(root).expanduser().absolute(),
        nats_url=nats_url or environment.get(NATS_VARIABLE) or None,
        user=environment.get(USER_VARIABLE) or None,
        password=environment.get(PASSWORD_VARIABLE) or None,
        client=environment.get(CLIENT_VARIABLE) or "local",
    )
