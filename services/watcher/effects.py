"""How the watcher touches a platform. The only file of this room that knows the backend port.

Queries that fall into one short window become one question per platform: a thousand jobs cost one status command.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from gonogo.events.job import JobRef, JobStopAnswered
from gonogo.services.backends.port import Backend, JobStatus, PlatformError, StopAnswer, elsewhere
from gonogo.services.runtime.clock import Clock
from gonogo.services.runtime.decision import AtMostOnce, Repeatable
from gonogo.services.runtime.worker import Permit
from gonogo.services.watcher.decider import Query, Seen, StopJob, Unseen

WINDOW_S = 0.05
"""Queries wait this long for company."""
QUERY_TIMEOUT_S = 60.0
"""A status question that takes longer counts as failed."""
STOP_TIMEOUT_S = 60.0
STOP_START_DEADLINE_S = 30.0

Answer = JobStatus | PlatformError


class Watching:
    """Performs the watcher's effects on the backends it was given, by platform name."""

    def __init__(self, backends: Mapping[str, Backend], clock: Clock) -> None:
        """`clock` measures the window in which queries gather."""
        self._backends = backends
        self._clock = clock
        self._failures: dict[JobRef, int] = {}
        self._gathering: dict[str, asyncio.Task[Mapping[JobRef, Answer]]] = {}
        self._asked: dict[str, list[JobRef]] = {}

    async def perform(self, effect: AtMostOnce | Repeatable, permit: Permit | None) -> object:
        """Do it, and say what the platform said."""
        match effect:
            case Query(platform=platform, target=target, job=job):
                blind = elsewhere(self._backends[platform], target)
                answer = PlatformError(blind) if blind else await self._ask(platform, job)
                return self._reading(job, answer)
            case StopJob() if permit is not None:
                return await self._stop(effect, permit)
            case _:
                message = f"the watcher has no way to perform {type(effect).__name__} here"
                raise AssertionError(message)

    def _reading(self, job: JobRef, answer: Answer) -> Seen | Unseen:
        if isinstance(answer, PlatformError):
            self._failures[job] = self._failures.get(job, 0) + 1
            return Unseen(job, self._failures[job], str(answer))
        self._failures.pop(job, None)
        return Seen(
            job,
            answer.state,
            answer.raw,
            exit_code=answer.exit_code,
            reason=answer.reason,
            restarts=answer.restarts,
            duplicate=answer.duplicate,
        )

    async def _ask(self, platform: str, job: JobRef) -> Answer:
        self._asked.setdefault(platform, []).append(job)
        question = self._gathering.get(platform)
        if question is None:
            question = asyncio.ensure_future(self._question(platform))
            self._gathering[platform] = question
        answers = await asyncio.shield(question)
        return answers[job]

    async def _question(self, platform: str) -> Mapping[JobRef, Answer]:
        await self._clock.sleep(WINDOW_S)
        del self._gathering[platform]
        jobs = self._asked.pop(platform)
        try:
            async with asyncio.timeout(QUERY_TIMEOUT_S):
                statuses = await self._backends[platform].status(jobs)
        except TimeoutError:
            return dict.fromkeys(jobs, PlatformError(f"no answer within {QUERY_TIMEOUT_S:g} s"))
        except PlatformError as error:
            return dict.fromkeys(jobs, error)
        silent = JobStatus(state="UNKNOWN", raw="not stated by the platform")
        return {job: statuses.get(job, silent) for job in jobs}

    async def _stop(self, effect: StopJob, permit: Permit) -> JobStopAnswered:
        backend = self._backends[effect.platform]
        refusal = elsewhere(backend, effect.target) or await permit.refusal(start_deadline_s=STOP_START_DEADLINE_S)
        answer = StopAnswer(taken=False, answer=f"not asked: {refusal}")
        if refusal is None:
            answer = await self._ask_to_stop(backend, effect.job)
        return JobStopAnswered(job=effect.job, number=effect.number, taken=answer.taken, answer=answer.answer)

    async def _ask_to_stop(self, backend: Backend, job: JobRef) -> StopAnswer:
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                return await backend.stop(job)
        except TimeoutError:
            return StopAnswer(taken=False, answer=f"no answer within {STOP_TIMEOUT_S:g} s")
        except PlatformError as error:
            return StopAnswer(taken=False, answer=str(error))
