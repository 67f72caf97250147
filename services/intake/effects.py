"""How intake reads and writes the log. It touches nothing else: a declined word leaves no trace outside the inbox."""

from __future__ import annotations

from gonogo.events.base import Event, Role
from gonogo.events.envelope import Entry, Unreadable
from gonogo.events.ids import History, digest_of, inbox_history, launch_history
from gonogo.events.launch import LaunchDeclined, LaunchDeduplicated, LaunchRequested, LaunchSuperseded, Person
from gonogo.events.log import Appended, Conflict, EventLog, LogUnavailableError
from gonogo.events.request import Problem
from gonogo.events.subjects import is_token
from gonogo.projections.launches import INITIAL, Launch, evolve
from gonogo.services.intake.decider import Inbound
from gonogo.services.intake.reading import redacted
from gonogo.services.runtime.author import Author
from gonogo.services.runtime.clock import Clock

RETRY_S = 0.5


class Registry:
    """The launches and the inbox, as the log has them."""

    def __init__(self, log: EventLog, *, author: Author, clock: Clock) -> None:
        """Everything is asked of the log anew; intake remembers nothing between words."""
        self._log = log
        self._author = author
        self._clock = clock

    async def launch(self, launch: str) -> tuple[Launch, int]:
        """A launch and its version; an empty one at version 0 when there is none."""
        if not is_token(launch):
            return INITIAL, 0
        state, version = INITIAL, 0
        for item in await self._read(launch_history(launch)):
            version = item.sequence
            if isinstance(item, Unreadable):
                continue
            for said in item.said:
                state = evolve(state, said)
        return state, version

    async def say(
        self, history: History, role: Role, events: tuple[Event, ...], *, inbound: Inbound, expected: int
    ) -> Appended | Conflict:
        """Append what one word led to. Asks until the answer is definite."""
        utterance = self._author.utter(history, role, events, trigger="inbox", caused_by=f"inbox-{inbound.sequence}")
        while True:
            try:
                return await self._log.append(utterance, expected=expected)
            except LogUnavailableError:
                await self._clock.sleep(RETRY_S)

    async def deduplicate(self, inbound: Inbound, launch: str, digest: str) -> None:
        """Record that this message is an earlier launch."""
        event = LaunchDeduplicated(inbox_sequence=inbound.sequence, launch=launch, digest=digest)
        await self.say(inbox_history(inbound.sequence), "intake", (event,), inbound=inbound, expected=0)

    async def decline(self, inbound: Inbound, problems: tuple[Problem, ...], launch: str | None) -> None:
        """Keep the redacted original, then the verdict with every problem. Both once, whatever is redelivered."""
        history = inbox_history(inbound.sequence)
        items = await self._read(history)
        version = items[-1].sequence if items else 0
        if not items:
            original = LaunchRequested(
                inbox_sequence=inbound.sequence,
                word=inbound.word,
                person=Person(client=inbound.client),
                digest=digest_of(inbound.body),
                original=redacted(inbound.body),
            )
            answer = await self.say(history, "request", (original,), inbound=inbound, expected=0)
            version = answer.sequence if isinstance(answer, Appended) else answer.actual
        if any(isinstance(item, Entry) and item.role == "intake" for item in items):
            return
        verdict = LaunchDeclined(inbox_sequence=inbound.sequence, problems=problems, launch=launch)
        await self.say(history, "intake", (verdict,), inbound=inbound, expected=version)

    async def supersede(self, inbound: Inbound, old: str, version: int, *, by: str, reason: str) -> bool:
        """Mark the recovered launch; whether it took (somebody else may have been first)."""
        event = LaunchSuperseded(by=by, reason=reason)
        answer = await self.say(launch_history(old), "intake", (event,), inbound=inbound, expected=version)
        return isinstance(answer, Appended)

    async def _read(self, history: History) -> tuple[Entry | Unreadable, ...]:
        while True:
            try:
                return await self._log.read(history)
            except LogUnavailableError:
                await self._clock.sleep(RETRY_S)
