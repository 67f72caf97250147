"""Intake at work: one word in, one durable verdict, then the answer.

Words about one launch are taken in their order of arrival; different launches in parallel. A word is `done` only after its
verdict is in the log, so a crash anywhere means that it is delivered again and found already answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

import msgspec
import structlog

from gonogo.events.ids import launch_history, launch_id
from gonogo.events.inbox import Inbox, InboxMessage
from gonogo.events.launch import LaunchPlanned, Plan
from gonogo.events.log import Appended
from gonogo.events.request import Problem, Request
from gonogo.events.subjects import SubjectError, parse_word_subject
from gonogo.services.backends.port import Backend
from gonogo.services.intake import decider
from gonogo.services.intake.decider import Accept, Deduplicate, Inbound, Silent, Turn, Verdict
from gonogo.services.intake.effects import Registry
from gonogo.services.intake.ordering import Ordering
from gonogo.services.intake.planning import plan_for
from gonogo.services.intake.reading import read_request, read_word
from gonogo.services.intake.words import Word
from gonogo.services.runtime.leases import Lease

LAUNCH = "launch"
"""The word that asks for a launch; the others are in `words`."""
WORDS_MAX = 64
"""Words in hand at the same time."""

logger: structlog.stdlib.BoundLogger = structlog.get_logger()


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a client gets back: the verdict, the launch it is about, and every problem if it was declined."""

    verdict: str
    inbox_sequence: int
    launch: str | None = None
    plan_digest: str | None = None
    problems: tuple[Problem, ...] = ()


class Intake:
    """Answers every word of the inbox."""

    def __init__(
        self,
        inbox: Inbox,
        registry: Registry,
        backends: Mapping[str, Backend],
        *,
        lease: Lease,
        approvers: Collection[str],
    ) -> None:
        """`approvers`: the clients that may answer reviews, or `*`."""
        self._inbox = inbox
        self._registry = registry
        self._backends = backends
        self._lease = lease
        self._approvers = frozenset(approvers)
        self._turns = asyncio.Semaphore(WORDS_MAX)
        self._ordering = Ordering()

    async def run(self) -> None:
        """Run until cancelled, taking words only while the lease is held."""
        async with asyncio.TaskGroup() as group:
            await self._lease.wait_held()
            async for message in self._inbox.messages():
                while not self._lease.held():
                    await self._lease.wait_held()
                await self._turns.acquire()
                group.create_task(self._take(message))

    async def _take(self, message: InboxMessage) -> None:
        try:
            inbound = _inbound(message)
            if inbound is not None:
                answer = await self._answer(inbound)
                await message.done()
                await self._inbox.answer(message.subject, message.sequence, msgspec.json.encode(answer))
                logger.info(
                    "word answered",
                    word=inbound.word,
                    client=inbound.client,
                    verdict=answer.verdict,
                    launch=answer.launch,
                )
            else:
                await message.done()
        except Exception:
            logger.exception("word not answered: it will be delivered again", subject=message.subject)
        finally:
            self._turns.release()

    async def _answer(self, inbound: Inbound) -> Answer:
        if inbound.word == LAUNCH:
            request = read_request(inbound.body, platforms=self._backends.keys())
            if not isinstance(request, Request):
                return await self._conclude(inbound, Turn(problems=request))
            launch = launch_id(inbound.client, decider.key_of(request))
            async with self._ordering.turn(launch):
                return await self._conclude(inbound, await self._launch(inbound, request, launch))
        word = read_word(inbound.word, inbound.body)
        if isinstance(word, tuple):
            return await self._conclude(inbound, Turn(problems=word))
        async with self._ordering.turn(word.launch):
            return await self._conclude(inbound, await self._hear(inbound, word))

    async def _launch(self, inbound: Inbound, request: Request, launch: str) -> Verdict:
        """Accept at version 0 without looking first; only a conflict costs a read."""
        root = launch
        if request.recovery_of is not None:
            recovered = await self._recover(inbound, request, launch)
            if isinstance(recovered, Turn):
                return recovered
            root = recovered
        plan = plan_for(request, launch, self._backends, guard_root=root)
        if not isinstance(plan, Plan):
            return Turn(problems=plan)
        verdict = decider.accept(inbound, request, plan)
        said = await self._registry.say(launch_history(launch), "intake", verdict.events, inbound=inbound, expected=0)
        if isinstance(said, Appended):
            return verdict
        existing, _ = await self._registry.launch(launch)
        return decider.known(inbound, request, existing)

    async def _recover(self, inbound: Inbound, request: Request, launch: str) -> str | Turn:
        """Supersede the recovered launch first; answers with the guard root of the chain."""
        recovery = request.recovery_of
        assert recovery is not None
        existing, _ = await self._registry.launch(launch)
        while True:
            old, version = await self._registry.launch(recovery.launch)
            if existing.exists or old.superseded_by == launch:
                return old.guard_root or launch
            problems = decider.recovery_problems(request, old, new=launch)
            if problems:
                return Turn(problems=problems)
            plan = plan_for(request, launch, self._backends, guard_root=old.guard_root)
            if not isinstance(plan, Plan):
                return Turn(problems=plan)
            if await self._registry.supersede(inbound, recovery.launch, version, by=launch, reason=recovery.reason):
                return old.guard_root

    async def _hear(self, inbound: Inbound, word: Word) -> Verdict:
        while True:
            launch, version = await self._registry.launch(word.launch)
            verdict = decider.hear(inbound, word, launch, approvers=self._approvers)
            if not isinstance(verdict, Accept):
                return verdict
            said = await self._registry.say(
                launch_history(word.launch), "request", verdict.events, inbound=inbound, expected=version
            )
            if isinstance(said, Appended):
                return verdict

    async def _conclude(self, inbound: Inbound, verdict: Verdict) -> Answer:
        """Make the verdict durable where it is not yet, and word the answer."""
        match verdict:
            case Accept(launch=launch, events=events):
                planned = next((e.plan_digest for e in events if isinstance(e, LaunchPlanned)), None)
                word = "accepted" if planned else "taken"
                return Answer(verdict=word, inbox_sequence=inbound.sequence, launch=launch, plan_digest=planned)
            case Silent(launch=launch):
                word = "accepted" if inbound.word == LAUNCH else "taken"
                return Answer(verdict=word, inbox_sequence=inbound.sequence, launch=launch)
            case Deduplicate(launch=launch, digest=digest):
                await self._registry.deduplicate(inbound, launch, digest)
                return Answer(verdict="deduplicated", inbox_sequence=inbound.sequence, launch=launch)
            case Turn(problems=problems, launch=launch):
                await self._registry.decline(inbound, problems, launch)
                return Answer(verdict="declined", inbox_sequence=inbound.sequence, launch=launch, problems=problems)


def _inbound(message: InboxMessage) -> Inbound | None:
    try:
        client, word = parse_word_subject(message.subject)
    except SubjectError as error:
        logger.warning("inbox message dropped", subject=message.subject, cause=str(error))
        return None
    return Inbound(
        sequence=message.sequence,
        client=client,
        word=word,
        body=message.body,
        stored_at=message.stored_at,
    )
