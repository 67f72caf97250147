"""The log on NATS JetStream.

There is exactly one append in the code base, always with the same filter, stream name and id: in a cluster the server's
check does not hold against a writer with another filter. Its answer is definite: stored, or conflict. Silence is repeated
with the same id and version until it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import count

from nats.aio.client import Client

from gonogo.events import codec
from gonogo.events.envelope import Entry, LogItem, Utterance
from gonogo.events.ids import History
from gonogo.events.jetstream_pull import PullConsumer, Pulled
from gonogo.events.jetstream_wire import (
    DUPLICATE_IN_PROCESS,
    IN_FLIGHT,
    MAXIMUM_REACHED,
    WRONG_LAST_SEQUENCE,
    ApiError,
    PubAck,
    StoredMessage,
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

    async def append(self, utterance: Utterance, *, expected: int) -> Appended | Conflict:
        """Store `utterance` if the history's version is `expected`."""
        body = codec.encode(utterance)
        if _is_intent(utterance):
            await self._demand_room()
        subject = event_subject(utterance.history, utterance.role)
        headers = {
            "Nats-Expected-Stream": EVENTS_STREAM,
            "Nats-Expected-Last-Subject-Sequence": str(expected),
            "Nats-Expected-Last-Subject-Sequence-Subject": history_filter(utterance.history),
            "Nats-Msg-Id": utterance.id,
        }
        began = self._monotonic()
        for attempt in count():
            try:
                message = await request(self._client, subject, body, headers=dict(headers))
                answer = await self._conclude(utterance, read_answer(message, subject, PubAck), expected)
                if answer is not None:
                    return answer
            except LogUnavailableError:
                if self._monotonic() - began > APPEND_BUDGET_S:
                    raise
            await self._sleep(PAUSES_S[min(attempt, len(PAUSES_S) - 1)])
            if self._monotonic() - began > APPEND_BUDGET_S:
                break
        message_text = (
            f"{utterance.history}: the log gave no definite answer in {APPEND_BUDGET_S:g} s; nothing is concluded"
        )
        raise LogUnavailableError(message_text)

    async def _conclude(self, utterance: Utterance, ack: PubAck, expected: int) -> Appended | Conflict | None:
        """What an answer means; None: nothing yet, repeat."""
        if ack.error is None:
            if ack.duplicate:
                return await self._whose(utterance, expected)
            return Appended(ack.seq)
        match ack.error.err_code:
            case code if code == WRONG_LAST_SEQUENCE:
                return await self._whose(utterance, expected)
            case code if code == MAXIMUM_REACHED:
                text = f"the log is full ({ack.error.description}): give its stream more room, then start again"
                raise LogFullError(text)
            case code if code in (IN_FLIGHT, DUPLICATE_IN_PROCESS):
                return None
            case _:
                raise _refused(ack.error)

    async def _whose(self, utterance: Utterance, expected: int) -> Appended | Conflict | None:
        """See whether the history moved on by this very utterance (its first answer was lost) or by another."""
        items = await self.read(utterance.history, after=expected)
        for item in items:
            if isinstance(item, Entry) and item.said[0].id == utterance.id:
                return Appended(item.sequence)
        return Conflict(items[-1].sequence) if items else None

    async def read(self, history: History, *, after: int = 0) -> tuple[LogItem, ...]:
        """Everything said in `history` after sequence `after`, asked of the leader."""
        items: list[LogItem] = []
        position, subject = after, history_filter(history)
        while True:
            message = await next_message(self._client, EVENTS_STREAM, after=position, subject=subject)
            if message is None:
                return tuple(items)
            items.append(_stored(message))
            position = message.seq

    async def tail(self) -> int:
        """The sequence of the last message of the whole log."""
        info = await stream_info(self._client, EVENTS_STREAM)
        if info.state is None:
            text = f"the log has no stream {EVENTS_STREAM}: {info.error.description if info.error else 'no answer'}"
            raise LogUnavailableError(text)
        return info.state.last_seq

    async def follow(self, *, after: int) -> AsyncIterator[Sequence[LogItem]]:
        """Everything after sequence `after`, in order, without gaps, in batches, for ever."""
        position, gaps = after, 0
        while True:
            await self._demand_no_regression(position)
            consumer = PullConsumer(
                self._client, EVENTS_STREAM, f"{self._reader}-{next(self._numbers)}", _from(position)
            )
            async for batch in consumer.batches():
                fresh, gap = _in_order(batch, position)
                if fresh:
                    position, gaps = fresh[-1].sequence, 0
                    yield [_pulled(message) for message in fresh]
                if gap:
                    gaps += 1
                    break
            if gaps > 1:
                text = f"the log has a gap after sequence {position}: stop, restore it from its backup, and compare checkpoints"
                raise LogDamagedError(text)

    async def _demand_no_regression(self, position: int) -> None:
        tail = await self.tail()
        if tail < position:
            text = f"the log ends at sequence {tail}, but {position} was read from it: stop, restore it from its backup"
            raise LogDamagedError(text)

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


def _refused(error: ApiError) -> EventLogError:
    text = (
        f"the log refused an append ({error.err_code}: {error.description}): check the server's version and permissions"
    )
    return EventLogError(text)


def _from(position: int) -> dict[str, object]:
    return {
        "deliver_policy": "by_start_sequence",
        "opt_start_seq": position + 1,
        "ack_policy": "none",
        "replay_policy": "instant",
        "inactive_threshold": 30_000_000_000,
        "mem_storage": True,
        "num_replicas": 1,
        "max_waiting": 64,
    }


def _in_order(batch: list[Pulled], position: int) -> tuple[list[Pulled], bool]:
    """The part of a batch that continues at `position`, and whether it breaks off with a gap."""
    fresh: list[Pulled] = []
    for message in batch:
        if message.sequence <= position:
            continue
        if message.sequence != position + 1:
            return fresh, True
        fresh.append(message)
        position = message.sequence
    return fresh, False


def _stored(message: StoredMessage) -> LogItem:
    return codec.decode(message.subject, message.data, sequence=message.seq, stored_at=message.time)


def _pulled(message: Pulled) -> LogItem:
    return codec.decode(message.subject, message.data, sequence=message.sequence, stored_at=message.stored_at)
