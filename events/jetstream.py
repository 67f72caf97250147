"""The log on NATS JetStream.

There is exactly one append in the code base, always with the same filter, stream name and id: in a cluster the server's
check does not hold against a writer with another filter. Its answer is definite: stored, or conflict. Silence is repeated
with the same id and version until it is.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from itertools import chain, count, repeat

from nats.aio.client import Client

from gonogo.events import codec
from gonogo.events.envelope import Entry, LogItem, Utterance
from gonogo.events.ids import History
from gonogo.events.jetstream_follow import Follower
from gonogo.events.jetstream_pull import PullConsumer
from gonogo.events.jetstream_wire import (
    NO_ROOM,
    NOT_YET,
    UNAVAILABLE,
    WRONG_LAST_SEQUENCE,
    ApiError,
    PubAck,
    StoredMessage,
    message_at,
    next_message,
    read_answer,
    request,
    stream_info,
)
from gonogo.events.log import Appended, Conflict, EventLogError, LogDamagedError, LogFullError, LogUnavailableError
from gonogo.events.subjects import EVENTS_STREAM, event_subject, history_filter

APPEND_BUDGET_S = 20.0
"""An append whose answer stays unclear for so long is given back as "the log is away"; repeating it later is safe."""
PAUSES_S = (0.05, 0.1, 0.25, 0.5, 1.0)
FULL_AT = 0.9
"""New intents are refused above this share of the stream's size; outcomes are still taken."""
FULLNESS_EVERY_S = 1.0
_LAST_NUMBER = re.compile(r"(\d+)\s*\Z")


class _BehindError(LogUnavailableError):
    """The history ends before the version that was expected: damage, if it stays so."""


class JetStreamLog:
    """The event log of one role over one connection."""

    def __init__(
        self,
        client: Client,
        *,
        reader: str,
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        """`reader` names this process's consumers; it must be new for every process start."""
        self._client = client
        self._reader = reader
        self._monotonic = monotonic
        self._sleep = sleep
        self._numbers = count(1)
        self._fullness = 0.0
        self._fullness_at: float | None = None
        self._follower = Follower(self, sleep=sleep)

    async def append(self, utterance: Utterance, *, expected: int) -> Appended | Conflict:
        """Store `utterance` if the history's version is `expected`."""
        body = codec.encode(utterance)
        ends = self._monotonic() + APPEND_BUDGET_S
        room = not _is_intent(utterance)
        cause = LogUnavailableError("another write was in the way")
        for pause_s in chain(PAUSES_S, repeat(PAUSES_S[-1])):
            try:
                if not room:
                    await self._demand_room()
                    room = True  # and never asked again: from now on an earlier try may have been stored
                answer = await self._publish(utterance, body, expected)
                if answer is not None:
                    return answer
            except LogUnavailableError as error:
                cause = error
            if self._monotonic() + pause_s > ends:
                break
            await self._sleep(pause_s)
        if isinstance(cause, _BehindError):
            raise LogDamagedError(str(cause)) from cause
        text = f"{utterance.history}: no definite answer in {APPEND_BUDGET_S:g} s; nothing is concluded ({cause})"
        raise LogUnavailableError(text) from cause

    async def _publish(self, utterance: Utterance, body: bytes, expected: int) -> Appended | Conflict | None:
        """One try. None: nothing is known yet, repeat."""
        subject = event_subject(utterance.history, utterance.role)
        headers = {
            "Nats-Expected-Stream": EVENTS_STREAM,
            "Nats-Expected-Last-Subject-Sequence": str(expected),
            "Nats-Expected-Last-Subject-Sequence-Subject": history_filter(utterance.history),
            "Nats-Msg-Id": utterance.id,
        }
        ack = read_answer(await request(self._client, subject, body, headers=headers), subject, PubAck)
        if ack.error is None:
            return await self._own(utterance, ack.seq) if ack.duplicate else Appended(ack.seq)
        match ack.error:
            case ApiError(err_code=code) if code == WRONG_LAST_SEQUENCE:
                return await self._whose(utterance, expected, ack.error)
            case ApiError(err_code=code) if code in NO_ROOM:
                text = f"the log is full ({ack.error.description}): give its stream more room, then start again"
                raise LogFullError(text)
            case ApiError(err_code=code) if code in NOT_YET or ack.error.code == UNAVAILABLE:
                return None
            case _:
                raise _refused(ack.error)

    async def _own(self, utterance: Utterance, sequence: int) -> Appended | None:
        """The server knows the id already: see that it stands for this very utterance."""
        message = await message_at(self._client, EVENTS_STREAM, sequence)
        if message is None:
            return None
        if _is(utterance, _decoded(message)):
            return Appended(sequence)
        text = f"{utterance.history}: the id {utterance.id} already stands for message {sequence}: an id was used twice; nothing was stored"
        raise EventLogError(text)

    async def _whose(self, utterance: Utterance, expected: int, error: ApiError) -> Appended | Conflict | None:
        """See whether the history moved on by this very utterance (its first answer was lost) or by another."""
        items = await self.read(utterance.history, after=expected)
        for item in items:
            if _is(utterance, item):
                return Appended(item.sequence)
        if items:
            return Conflict(items[-1].sequence)
        actual = _LAST_NUMBER.search(error.description)
        if actual is not None and int(actual.group(1)) < expected:
            text = (
                f"{utterance.history} ends at sequence {actual.group(1)}, but {expected} was read from it: "
                "stop, and restore the log from its backup"
            )
            raise _BehindError(text)
        return None

    async def read(self, history: History, *, after: int = 0) -> tuple[LogItem, ...]:
        """Everything said in `history` after sequence `after`, asked of the leader."""
        items: list[LogItem] = []
        position, subject = after, history_filter(history)
        while True:
            message = await next_message(self._client, EVENTS_STREAM, after=position, subject=subject)
            if message is None:
                return tuple(items)
            items.append(_decoded(message))
            position = message.seq

    async def tail(self) -> int:
        """The sequence of the last message of the whole log."""
        info = await stream_info(self._client, EVENTS_STREAM)
        if info.state is None:
            text = f"the log has no stream {EVENTS_STREAM}: {info.error.description if info.error else 'no answer'}"
            raise LogUnavailableError(text)
        return info.state.last_seq

    async def has(self, sequence: int) -> bool:
        """Whether there is a message with that sequence, asked of the leader."""
        return await message_at(self._client, EVENTS_STREAM, sequence) is not None

    def consumer(self, config: Mapping[str, object]) -> PullConsumer:
        """A new consumer of this reader."""
        return PullConsumer(self._client, EVENTS_STREAM, f"{self._reader}-{next(self._numbers)}", config)

    async def follow(self, *, after: int) -> AsyncIterator[Sequence[LogItem]]:
        """Everything after sequence `after`, in order, without gaps, in batches, for ever.

        Raises LogUnavailableError when the log cannot be reached; follow again from where you are.
        """
        async with aclosing(self._follower.follow(after)) as batches:
            async for batch in batches:
                yield batch

    async def _demand_room(self) -> None:
        now = self._monotonic()
        if self._fullness_at is None or now - self._fullness_at > FULLNESS_EVERY_S:
            info = await stream_info(self._client, EVENTS_STREAM)
            limit = int(info.config.get("max_bytes", -1))
            self._fullness = info.state.bytes / limit if info.state is not None and limit > 0 else 0.0
            self._fullness_at = now
        if self._fullness > FULL_AT:
            text = f"the log is {self._fullness:.0%} full: new intents wait until its stream has more room (max_bytes)"
            raise LogFullError(text)


def _is_intent(utterance: Utterance) -> bool:
    names = [type(said.event).__name__ for said in utterance.said]
    return any(name.endswith("Intended") or name == "LaunchAccepted" for name in names)


def _is(utterance: Utterance, item: LogItem) -> bool:
    if not isinstance(item, Entry):
        return False
    return (item.history, item.role, item.said[0].id) == (utterance.history, utterance.role, utterance.id)


def _refused(error: ApiError) -> EventLogError:
    text = (
        f"the log refused an append ({error.err_code}: {error.description}): check the server's version and permissions"
    )
    return EventLogError(text)


def _decoded(message: StoredMessage) -> LogItem:
    return codec.decode(message.subject, message.data, sequence=message.seq, stored_at=message.time)
