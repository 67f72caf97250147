"""How the submitter touches a platform. The only file of this room that knows the backend port.

Create is called here and nowhere else. Everything that can be said *before* the call withholds it with proof; from the call
on, whatever is not proven refused is unresolved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from gonogo.events.base import Event
from gonogo.events.ids import digest_of
from gonogo.events.launch import Plan
from gonogo.events.submission import (
    SubmissionAccepted,
    SubmissionLookedUp,
    SubmissionMismatched,
    SubmissionRejected,
    SubmissionUnresolved,
    SubmissionVerified,
    SubmissionWithheld,
)
from gonogo.services.backends.port import Accepted, Backend, PlatformError, Refused, Unclear, elsewhere
from gonogo.services.runtime.decision import AtMostOnce, Repeatable
from gonogo.services.runtime.secrets import MissingSecretError
from gonogo.services.runtime.worker import Permit
from gonogo.services.submitter.decider import Create, LookUp, ReadBack

ReadSecrets = Callable[[Mapping[str, str]], Mapping[str, str]]
"""From {NAME: reference} to {reference: value}; raises MissingSecretError."""
READ_TIMEOUT_S = 60.0
"""A look-up or read-back that takes longer proves nothing and is tried again later."""


class Submitting:
    """Performs the submitter's effects on the backends it was given, by platform name."""

    def __init__(self, backends: Mapping[str, Backend], read_secrets: ReadSecrets) -> None:
        """`read_secrets` turns references into values; it is called right before create and nowhere else."""
        self._backends = backends
        self._read_secrets = read_secrets

    async def perform(self, effect: AtMostOnce | Repeatable, permit: Permit | None) -> Event | None:
        """Do it, and say what became of it."""
        match effect:
            case Create() if permit is not None:
                return await self._create(effect, permit)
            case LookUp(plan=plan):
                return await self._look_up(plan)
            case ReadBack():
                return await self._read_back(effect)
            case _:
                message = f"the submitter has no way to perform {type(effect).__name__} here"
                raise AssertionError(message)

    async def _create(self, effect: Create, permit: Permit) -> Event:
        plan, terms = effect.plan, effect.intent.terms
        withheld = self._reason_to_withhold(effect)
        if withheld is not None:
            return SubmissionWithheld(proof=f"create was never called: {withheld}")
        try:
            secrets = self._read_secrets(plan.secrets)
        except MissingSecretError as error:
            return SubmissionWithheld(proof=f"create was never called: {error}")
        refusal = await permit.refusal(start_deadline_s=terms.start_deadline_s)
        if refusal is not None:
            return SubmissionWithheld(proof=f"create was never called: {refusal}")
        backend = self._backends[plan.platform]
        try:
            async with asyncio.timeout(terms.create_timeout_s):
                reply = await backend.create(plan.rendering, secrets)
        except TimeoutError:
            reply = Unclear(f"no answer within {terms.create_timeout_s:g} s")
        except Exception as error:  # whatever it is, the call had begun, so nobody can tell
            reply = Unclear(f"{type(error).__name__}: {error}")
        match reply:
            case Accepted(job=job):
                return SubmissionAccepted(job=job)
            case Refused(code=code, reason=reason, proof=proof):
                return SubmissionRejected(code=code, reason=reason, proof=proof)
            case Unclear(cause=cause):
                return SubmissionUnresolved(cause=cause)

    def _reason_to_withhold(self, effect: Create) -> str | None:
        rendering = effect.plan.rendering
        if digest_of(rendering.body.encode()) != effect.intent.rendering_digest:
            return "the bytes to be sent do not hash to the digest in the intent"
        if effect.plan.platform not in self._backends:
            return f"this worker has no backend for the platform {effect.plan.platform!r}"
        return elsewhere(self._backends[effect.plan.platform], effect.plan.target)

    async def _look_up(self, plan: Plan) -> Event:
        backend = self._backends[plan.platform]
        blind = elsewhere(backend, plan.target)
        if blind is not None:
            return SubmissionLookedUp(complete=False, cause=blind)
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                sightings = await backend.find(plan.job_name)
        except (PlatformError, TimeoutError) as error:
            cause = str(error) or f"no answer within {READ_TIMEOUT_S:g} s"
            return SubmissionLookedUp(complete=False, cause=cause)
        return SubmissionLookedUp(complete=True, found=sightings.found, control=sightings.control)

    async def _read_back(self, effect: ReadBack) -> Event | None:
        backend = self._backends[effect.plan.platform]
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                facts = await backend.read_back(effect.job, effect.plan.rendering)
        except (PlatformError, TimeoutError):
            return None
        if facts is None:
            return None
        if facts.differences:
            return SubmissionMismatched(job=effect.job, differences=facts.differences)
        return SubmissionVerified(job=effect.job, facts=facts.facts)
