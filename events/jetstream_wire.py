"""The JetStream API as requests and JSON: few calls, all answers typed, every failure sorted into "definite" and "not".

The client library's own JetStream layer retries, buffers and guesses in places where a log must not; only its connection is
used here.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any, TypeVar

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from gonogo.events.log import LogUnavailableError

REQUEST_TIMEOUT_S = 2.0

WRONG_LAST_SEQUENCE = 10071
NO_MESSAGE_FOUND = 10037
NO_ROOM = frozenset((10002, 10023, 10047, 10077))
"""The account, the server, its disk or the stream has no room left."""
NOT_YET = frozenset((10158, 10164))
"""A write to the same history, or with the same id, is in flight: says nothing about how it ends."""
UNAVAILABLE = 503
"""The class of errors that pass by themselves."""

T = TypeVar("T")


class ApiError(msgspec.Struct, frozen=True):
    """An error of the server, in its own numbers."""

    code: int
    description: str = ""
    err_code: int = 0


class PubAck(msgspec.Struct, frozen=True):
    """The answer to a publish: stored at `seq`, or an error."""

    stream: str = ""
    seq: int = 0
    duplicate: bool = False
    error: ApiError | None = None


class StoredMessage(msgspec.Struct, frozen=True):
    """A message as the stream has it."""

    subject: str
    seq: int
    time: datetime
    data: bytes = b""
    hdrs: bytes = b""


class MessageAnswer(msgspec.Struct, frozen=True):
    """The answer to a get."""

    message: StoredMessage | None = None
    error: ApiError | None = None


class StreamState(msgspec.Struct, frozen=True):
    """How much a stream holds, and where it ends."""

    messages: int
    bytes: int
    first_seq: int
    last_seq: int


class StreamInfo(msgspec.Struct, frozen=True):
    """A stream's state and configuration."""

    state: StreamState | None = None
    config: dict[str, Any] = {}
    error: ApiError | None = None


class Plain(msgspec.Struct, frozen=True):
    """An answer of which only the error matters."""

    error: ApiError | None = None


async def ask(client: Client, subject: str, body: object, kind: type[T], *, timeout_s: float = REQUEST_TIMEOUT_S) -> T:
    """One API request. Raises LogUnavailableError when there is no answer that can be read."""
    payload = msgspec.json.encode(body) if body is not None else b""
    message = await request(client, subject, payload, timeout_s=timeout_s)
    return read_answer(message, subject, kind)


async def request(
    client: Client,
    subject: str,
    payload: bytes,
    *,
    headers: dict[str, str] | None = None,
    timeout_s: float = REQUEST_TIMEOUT_S,
) -> Msg:
    """One request. Raises LogUnavailableError for silence of any kind."""
    cancels = _cancels()
    try:
        message = await client.request(subject, payload, timeout=timeout_s, headers=headers)
    except (nats.errors.Error, TimeoutError, OSError) as error:
        what = str(error) or type(error).__name__
        text = f"no answer from the log on {subject.rsplit('.', 1)[0]} ({what}); nothing is concluded from that"
        raise LogUnavailableError(text) from error
    if _cancels() > cancels:
        raise asyncio.CancelledError
    return message


def _cancels() -> int:
    """How often this task was asked to end.

    The library waits with `wait_for`, which in Python 3.11 forgets a cancel that comes together with the answer; the task
    would then go on for ever.
    """
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


def read_answer(message: Msg, subject: str, kind: type[T]) -> T:
    """The typed answer."""
    try:
        return msgspec.json.decode(message.data, type=kind)
    except msgspec.MsgspecError as error:
        text = f"unreadable answer from the log on {subject} ({error})"
        raise LogUnavailableError(text) from error


async def stream_info(client: Client, stream: str) -> StreamInfo:
    """State and configuration of a stream."""
    return await ask(client, f"$JS.API.STREAM.INFO.{stream}", None, StreamInfo)


async def next_message(client: Client, stream: str, *, after: int, subject: str) -> StoredMessage | None:
    """The first message after `after` on `subject` (wildcards allowed), asked of the leader."""
    return await _get(client, stream, {"seq": after + 1, "next_by_subj": subject})


async def message_at(client: Client, stream: str, sequence: int) -> StoredMessage | None:
    """The message with that sequence, asked of the leader; None if there is none."""
    return await _get(client, stream, {"seq": sequence})


async def last_message(client: Client, stream: str, *, subject: str) -> StoredMessage | None:
    """The last message on `subject`, asked of the leader."""
    return await _get(client, stream, {"last_by_subj": subject})


async def _get(client: Client, stream: str, wish: dict[str, object]) -> StoredMessage | None:
    answer = await ask(client, f"$JS.API.STREAM.MSG.GET.{stream}", wish, MessageAnswer)
    if answer.message is not None:
        return answer.message
    if answer.error is not None and answer.error.err_code == NO_MESSAGE_FOUND:
        return None
    what = answer.error.description if answer.error else "an empty answer"
    text = f"the stream {stream} could not be read: {what}"
    raise LogUnavailableError(text)
