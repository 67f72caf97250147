"""One way to connect: reconnect for ever, buffer nothing, and no callback that can raise.

A buffered publish would be stored after its sender gave up on it, and an exception in a callback would silently end the
library's read loop.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import nats.errors
import structlog
from nats.aio.client import Client

CONNECT_TIMEOUT_S = 10.0
ATTEMPT_TIMEOUT_S = 2
PING_S = 2
"""Two unanswered pings are a dead broker: noticed within six seconds instead of the library's six minutes."""

logger: structlog.stdlib.BoundLogger = structlog.get_logger()


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Where the broker is and who we are there."""

    url: str
    user: str | None = None
    password: str | None = None
    creds: Path | None = None
    """A `.creds` file, for brokers in operator mode; read anew at each connect."""
    ca: Path | None = None
    """Whom to believe about the broker's certificate, if not whom the machine believes."""

    @property
    def shown(self) -> str:
        """The url without what may stand in it of a password."""
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    @property
    def name(self) -> str:
        """Who we are, in one word; the answers to our requests arrive under it."""
        return self.user or "anonymous"

    def __repr__(self) -> str:
        """Never the password."""
        return f"Access(url={self.shown!r}, user={self.user!r})"


class NotConnectedError(Exception):
    """The broker cannot be reached; the message says where it was looked for and what to do."""


class _Callbacks:
    """What the library tells us. None of these may raise."""

    def __init__(self, client: Client, on_closed: Callable[[], None]) -> None:
        self._client = client
        self._on_closed = on_closed
        self.refused = asyncio.Event()
        self.last: str | None = None

    async def on_error(self, error: Exception) -> None:
        with suppress(Exception):
            self.last = str(error) or type(error).__name__
            if isinstance(error, nats.errors.AuthorizationError) or "authorization violation" in self.last.lower():
                self.refused.set()
            if "permissions violation" in self.last.lower():
                logger.warning("the broker forbids this", cause=self.last)
            else:
                logger.debug("broker connection", cause=self.last)

    async def on_disconnect(self) -> None:
        with suppress(Exception):
            if self._client.is_connected or self._client.is_reconnecting:
                logger.warning("broker away")

    async def on_reconnect(self) -> None:
        with suppress(Exception):
            logger.info("broker back")

    async def on_close(self) -> None:
        with suppress(Exception):
            self._on_closed()


def _nothing() -> None:
    return


async def connect(
    access: Access, *, timeout_s: float = CONNECT_TIMEOUT_S, on_closed: Callable[[], None] = _nothing
) -> Client:
    """A connection for one role. Raises NotConnectedError.

    `on_closed` is called when it is closed for good. The broker can do that too, e.g. when the user's time is over; such a client
    never comes back and has to be made anew. One that is merely cut off reconnects by itself, for ever.
    """
    client = Client()
    callbacks = _Callbacks(client, on_closed)
    try:
        connecting = asyncio.ensure_future(client.connect(**_options(access, callbacks)))
    except OSError as error:
        message = f"the broker at {access.shown} cannot be reached as {access.name}: {access.ca}: {error.strerror}"
        raise NotConnectedError(message) from error
    refused = asyncio.ensure_future(callbacks.refused.wait())
    try:
        await asyncio.wait((connecting, refused), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if connecting.done() and connecting.exception() is None:
            return client
        raise NotConnectedError(_why(access, callbacks, connecting, timeout_s))
    finally:
        refused.cancel()
        if not connecting.done() or connecting.exception() is not None:
            await _abandon(client, connecting)


async def _abandon(client: Client, connecting: asyncio.Future[None]) -> None:
    connecting.cancel()
    await asyncio.wait((connecting,))
    with suppress(Exception):
        await hang_up(client)


async def hang_up(client: Client) -> None:
    """Close a connection. While it is being lost, the library's own close ends in a cancellation that nobody asked for."""
    try:
        await client.close()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise


def _options(access: Access, callbacks: _Callbacks) -> dict[str, Any]:
    options: dict[str, Any] = {
        "servers": [access.url],
        "name": f"gonogo-{access.name}",
        "user": access.user,
        "password": access.password,
        "inbox_prefix": f"_INBOX_{access.name}".encode(),
        "allow_reconnect": True,
        "max_reconnect_attempts": -1,
        "reconnect_time_wait": 1,
        "connect_timeout": ATTEMPT_TIMEOUT_S,
        "ping_interval": PING_S,
        "max_outstanding_pings": 2,
        "pending_size": 0,
        "error_cb": callbacks.on_error,
        "disconnected_cb": callbacks.on_disconnect,
        "reconnected_cb": callbacks.on_reconnect,
        "closed_cb": callbacks.on_close,
    }
    if access.creds is not None:
        options["user_credentials"] = str(access.creds)
    if access.ca is not None:
        options["tls"] = ssl.create_default_context(cafile=access.ca)
    return options


def _why(access: Access, callbacks: _Callbacks, connecting: asyncio.Future[None], timeout_s: float) -> str:
    if callbacks.refused.is_set():
        return (
            f"the broker at {access.shown} does not accept the user {access.name} with this password: check both "
            "(GONOGO_NATS_USER, GONOGO_NATS_PASSWORD)"
        )
    error = connecting.exception() if connecting.done() else None
    what = f"{type(error).__name__}: {error}" if error else callbacks.last or "it is silent"
    return (
        f"the broker at {access.shown} cannot be reached as {access.name}: no connection within {timeout_s:g} s ({what}). "
        "Start it with: gonogo up, or check its URL"
    )
