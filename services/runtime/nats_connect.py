"""One way to connect: reconnect for ever, buffer nothing, and no callback that can raise.

A buffered publish would be stored after its sender gave up on it, and an exception in a callback would silently end the
library's read loop.
"""

from __future__ import annotations

import asyncio

import msgspec
import nats
import nats.errors
import structlog
from nats.aio.client import Client

CONNECT_TIMEOUT_S = 10.0

logger: structlog.stdlib.BoundLogger = structlog.get_logger()


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Where the broker is and who we are there."""

    url: str
    user: str | None = None
    password: str | None = None

    def __repr__(self) -> str:
        """Never the password."""
        return f"Access(url={self.url!r}, user={self.user!r})"


class NotConnectedError(Exception):
    """The broker cannot be reached; the message says where it was looked for and what to do."""


async def connect(access: Access, *, timeout_s: float = CONNECT_TIMEOUT_S) -> Client:
    """A connection for one role. Raises NotConnectedError."""
    client = Client()

    async def on_disconnect() -> None:
        if not client.is_closed:
            logger.warning("broker away")

    name = access.user or "anonymous"
    try:
        async with asyncio.timeout(timeout_s):
            await client.connect(
                servers=[access.url],
                name=f"gonogo-{name}",
                user=access.user,
                password=access.password,
                inbox_prefix=f"_INBOX_{name}".encode(),
                max_reconnect_attempts=-1,
                reconnect_time_wait=1,
                connect_timeout=2,
                ping_interval=2,
                max_outstanding_pings=2,
                pending_size=0,
                allow_reconnect=True,
                error_cb=_on_error,
                disconnected_cb=on_disconnect,
                reconnected_cb=_on_reconnect,
                closed_cb=_on_close,
            )
    except (TimeoutError, nats.errors.Error, OSError) as error:
        what = str(error) or f"no answer within {timeout_s:g} s"
        message = f"the broker at {access.url} cannot be reached as {name}: {what}. Start it with: gonogo up"
        raise NotConnectedError(message) from error
    return client


async def _on_error(error: Exception) -> None:
    logger.debug("broker connection", cause=str(error) or type(error).__name__)


async def _on_reconnect() -> None:
    logger.info("broker back")


async def _on_close() -> None:
    logger.debug("broker connection closed")
