"""How the notifier reaches people. The only file of this room that knows the channels.

Notices of one launch on one channel go out in the order of the log, so that nobody reads "running" after "succeeded".
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from gonogo.events.base import Event
from gonogo.events.ids import History
from gonogo.events.log import EventLog, LogFullError, LogUnavailableError
from gonogo.services.channels.port import Channel, Confirmed, NotDelivered, Notice, Unconfirmed
from gonogo.services.notifier.decider import Delivered, Failed, Open, Send, recorded_locally
from gonogo.services.runtime.author import Author
from gonogo.services.runtime.clock import Clock
from gonogo.services.runtime.decision import AtMostOnce, Repeatable
from gonogo.services.runtime.worker import Permit

SEND_TIMEOUT_S = 20.0
RETRY_S = 0.5


class Telling:
    """Opens notices in the log and sends them through channels, by channel name."""

    def __init__(self, channels: Mapping[str, Channel], *, log: EventLog, author: Author, clock: Clock) -> None:
        """`channels` maps the part before the first colon of a target to its adapter."""
        self._channels = channels
        self._log = log
        self._author = author
        self._clock = clock
        self._opened: set[str] = set()
        self._lines: dict[tuple[str, str], asyncio.Lock] = {}

    async def perform(self, effect: AtMostOnce | Repeatable, permit: Permit | None) -> object:
        """Do it; a Send answers with what the channel said."""
        _ = permit
        match effect:
            case Open():
                await self._open(effect)
                return None
            case Send():
                return await self._send(effect)
            case _:
                message = f"the notifier has no way to perform {type(effect).__name__}"
                raise AssertionError(message)

    def knows(self, notice: str) -> None:
        """Remember a notice that the log already has, so that it is not opened again at every start."""
        self._opened.add(notice)

    async def _open(self, effect: Open) -> None:
        if effect.notice in self._opened:
            return
        events: tuple[Event, ...] = (effect.intended,)
        if effect.recorded_locally:
            events = (effect.intended, recorded_locally())
        utterance = self._author.utter(
            History("notice", effect.notice), "notifier", events, trigger="woken", caused_by=effect.intended.event_id
        )
        while True:
            try:
                await self._log.append(utterance, expected=0)
            except (LogUnavailableError, LogFullError):
                await self._clock.sleep(RETRY_S)
                continue
            self._opened.add(effect.notice)
            return

    async def _send(self, effect: Send) -> Delivered | Failed:
        name, _, target = effect.intended.channel.partition(":")
        channel = self._channels.get(name)
        if channel is None:
            known = ", ".join(sorted(self._channels)) or "none"
            cause = f"no channel {name!r} is set up (there are: {known})"
            return Failed(effect.attempt, cause, again=False)
        line = self._lines.setdefault((effect.intended.launch, effect.intended.channel), asyncio.Lock())
        async with line:
            return await self._deliver(channel, effect, target)

    async def _deliver(self, channel: Channel, effect: Send, target: str) -> Delivered | Failed:
        notice = Notice(
            key=effect.notice,
            launch=effect.intended.launch,
            target=target,
            title=effect.intended.title,
            lines=effect.intended.lines,
        )
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                earlier = await channel.seen(notice.key)
                if earlier is not None:
                    return Delivered(effect.attempt, earlier)
                delivery = await channel.send(notice)
        except TimeoutError:
            delivery = Unconfirmed(f"no answer within {SEND_TIMEOUT_S:g} s")
        match delivery:
            case Confirmed(receipt=receipt):
                return Delivered(effect.attempt, receipt)
            case NotDelivered(cause=cause, retryable=retryable):
                return Failed(effect.attempt, cause, again=retryable)
            case Unconfirmed(cause=cause):
                return Failed(effect.attempt, f"unconfirmed: {cause}", again=True)
