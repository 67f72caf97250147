"""Planted mutants: each breaks one rule that a hurried programmer would break. The judge must catch every one of them.

A mutant that survives means that the simulation is blind where it matters most.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from unittest.mock import patch

import msgspec

from gonogo.events.submission import SubmissionUnresolved
from gonogo.projections import gates as gates_module
from gonogo.projections.submissions import InDoubt, Intended
from gonogo.services.notifier import effects as notifier_effects
from gonogo.services.runtime.decision import AtMostOnce, Decision, Due, Recovered, Woken
from gonogo.services.runtime.loop import Loop
from gonogo.services.runtime.permit import LoopPermit
from gonogo.services.submitter import decider, effects, evidence
from gonogo.services.submitter import worker as submitter
from gonogo.services.watcher import decider as watcher_decider
from tests.simulation.virtual_time import EPOCH


class YesPermit:
    """A right to act that asks nobody."""

    async def refusal(self, *, start_deadline_s: float) -> str | None:
        _ = start_deadline_s


@contextmanager
def perform_before_record() -> Iterator[None]:
    """The button is pushed, then it is written down."""

    async def turn(self: Loop, thread, trigger) -> None:
        decision = self._worker.decide(thread.state, trigger)
        results = [
            (effect, await self._worker.perform(effect, YesPermit()))
            for effect in decision.then
            if isinstance(effect, AtMostOnce)
        ]
        if decision.record and await self._record(thread, decision.record, trigger) is None:
            thread.offer(trigger)
            return
        for effect, result in results:
            await self._record_outcome(thread, effect, result)
        for effect in decision.then:
            if not isinstance(effect, AtMostOnce):
                await self._record_outcome(thread, effect, await self._worker.perform(effect, None))
        if decision.record:
            thread.offer(Woken(self._clock.now()))

    with patch.object(Loop, "_turn", turn):
        yield


@contextmanager
def retry_create() -> Iterator[None]:
    """An unclear answer is tried again, as nearly everyone does."""
    original = effects.Submitting._create

    async def create(self, effect, permit):
        outcome = await original(self, effect, permit)
        if isinstance(outcome, SubmissionUnresolved):
            outcome = await original(self, effect, permit)
        return outcome

    with patch.object(effects.Submitting, "_create", create):
        yield


@contextmanager
def believe_one_empty_lookup() -> Iterator[None]:
    """The first empty list is taken for absence."""
    original = evidence.absence_evidence

    def believe(stage: InDoubt):
        if stage.looks and stage.looks[-1].complete and not stage.looks[-1].found:
            from gonogo.events.submission import SubmissionAbsent

            return SubmissionAbsent(evidence="an empty list")
        return original(stage)

    with patch.object(decider, "absence_evidence", believe):
        yield


@contextmanager
def submit_without_review() -> Iterator[None]:
    """The yes is not waited for."""

    def may(self, now) -> bool:
        return not self.stopped and self._go_holds(now)

    with (
        patch.object(gates_module.Gates, "may_submit", may),
        patch.object(gates_module.Gates, "may_clear", lambda self, now: may(self, now) and not self.cleared),
    ):
        yield


@contextmanager
def submit_another_digest() -> Iterator[None]:
    """The bytes are touched up on their way out."""
    original = effects.Submitting._create

    async def create(self, effect, permit):
        body = effect.plan.rendering.body.replace('"train"', '"trane"')
        rendering = msgspec.structs.replace(effect.plan.rendering, body=body)
        plan = msgspec.structs.replace(effect.plan, rendering=rendering)
        return await original(self, msgspec.structs.replace(effect, plan=plan), permit)

    with (
        patch.object(effects.Submitting, "_create", create),
        patch.object(effects.Submitting, "_reason_to_withhold", lambda _self, _effect: None),
    ):
        yield


@contextmanager
def create_from_a_folded_history() -> Iterator[None]:
    """After a restart an intent without an outcome is taken for a right to create."""
    original = decider.decide

    def decide(state, trigger):
        if isinstance(state.stage, Intended) and isinstance(trigger, Recovered):
            return Decision(then=(decider.Create(state.stage.intent, state.gates.plan),))
        return original(state, trigger)

    async def turn(self: Loop, thread, trigger) -> None:
        decision = self._worker.decide(thread.state, trigger)
        if decision.then and not decision.record and isinstance(decision.then[0], AtMostOnce):
            result = await self._worker.perform(decision.then[0], YesPermit())
            await self._record_outcome(thread, decision.then[0], result)
            return
        await plain_turn(self, thread, trigger)

    plain_turn = Loop._turn
    with patch.object(submitter, "decide", decide), patch.object(Loop, "_turn", turn):
        yield


@contextmanager
def drop_a_lost_outcome() -> Iterator[None]:
    """The log was away, so the answer of create is forgotten, and its absence is concluded from silence."""
    original = Loop._record_outcome

    async def record(self: Loop, thread, effect, result) -> None:
        if isinstance(effect, AtMostOnce):
            events = self._worker.conclude(thread.state, result)
            answer = None
            try:
                answer = await self._log.append(self._utter(thread, events, "outcome"), expected=thread.version)
            except Exception:
                await self._refresh(thread)
                return
            if answer is not None:
                await self._refresh(thread)
            return
        await original(self, thread, effect, result)

    with (
        patch.object(Loop, "_record_outcome", record),
        patch.object(decider, "due", lambda _s, _n: None),
        patch.object(submitter, "due", lambda _s, _n: None),
        patch.object(decider, "DIED", "x"),
        patch.object(submitter, "decide", _forgetful(decider.decide)),
    ):
        yield


def _forgetful(decide):
    def decide_but_forget(state, trigger):
        if isinstance(state.stage, Intended):
            return Decision()
        return decide(state, trigger)

    return decide_but_forget


@contextmanager
def withhold_after_creating() -> Iterator[None]:
    """A failed create is reported as never called."""
    from gonogo.events.submission import SubmissionWithheld

    original = effects.Submitting._create

    async def create(self, effect, permit):
        outcome = await original(self, effect, permit)
        if isinstance(outcome, SubmissionUnresolved):
            return SubmissionWithheld(proof="surely not")
        return outcome

    with patch.object(effects.Submitting, "_create", create):
        yield


@contextmanager
def ignore_the_permit() -> Iterator[None]:
    """A process that was paused and overtaken goes on as if nothing had happened."""

    async def always(self, *, start_deadline_s: float) -> str | None:
        _ = self, start_deadline_s

    with (
        patch.object(LoopPermit, "refusal", always),
        patch.object(
            evidence, "_counts", lambda look, stage: look.complete and not look.found and look.control is not None
        ),
    ):
        yield


@contextmanager
def speak_after_the_end() -> Iterator[None]:
    """A stale reading is recorded although the job has ended."""

    def conclude(watch, result):
        if isinstance(result, watcher_decider.Seen) and watch.job is not None:
            return watcher_decider._seen(msgspec.structs.replace(watch, state=None), result)
        return original(watch, result)

    original = watcher_decider.conclude
    from gonogo.services.watcher import worker as watcher

    def decide(watch, trigger):
        if watch.over and watch.job is not None and isinstance(trigger, Due):
            return Decision(then=(watcher_decider.Query(watch.platform, watch.target, watch.job),))
        return watcher_decider.decide(watch, trigger)

    def due(watch, now):
        if watch.over and watch.job and now < EPOCH + timedelta(minutes=20):
            return now + timedelta(minutes=5)
        return watcher_decider.due(watch, now)

    with (
        patch.object(watcher, "conclude", conclude),
        patch.object(watcher, "due", due),
        patch.object(watcher, "decide", decide),
    ):
        yield


@contextmanager
def tell_without_looking() -> Iterator[None]:
    """A notice whose confirmation was lost is shown again without asking the channel."""
    original = notifier_effects.Telling._deliver

    async def deliver(self, channel, effect, target):
        class Blind:
            name = channel.name
            send = channel.send

            async def seen(self, key: str) -> str | None:
                _ = key

        return await original(self, Blind(), effect, target)

    with patch.object(notifier_effects.Telling, "_deliver", deliver):
        yield


@contextmanager
def keep_silent() -> Iterator[None]:
    """A notice that was refused once is forgotten."""
    from gonogo.services.notifier import worker as notifier

    with (
        patch.object(notifier, "conclude", lambda _s, r: () if type(r).__name__ == "Failed" else ORIGINAL(_s, r)),
        patch.object(notifier, "due", lambda _s, _n: None),
    ):
        yield


from gonogo.services.notifier.decider import conclude as ORIGINAL  # noqa: E402


@contextmanager
def leak_the_value() -> Iterator[None]:
    """The secret's value goes into the failure's text, and nobody masks it."""
    from gonogo.events import codec

    original = effects.Submitting._create

    async def create(self, effect, permit):
        outcome = await original(self, effect, permit)
        if isinstance(outcome, SubmissionUnresolved):
            secrets = self._read_secrets(effect.plan.secrets)
            return SubmissionUnresolved(cause=f"{outcome.cause} {dict(secrets)}")
        return outcome

    with patch.object(effects.Submitting, "_create", create), patch.object(codec, "known_secret", lambda _t: False):
        yield


@contextmanager
def forget_to_watch() -> Iterator[None]:
    """A job that nobody looks at again."""
    from gonogo.services.watcher import worker as watcher

    with patch.object(watcher, "due", lambda _w, _n: None):
        yield


@dataclass(frozen=True)
class Mutant:
    plant: object
    caught_by: str


MUTANTS: tuple[Mutant, ...] = (
    Mutant(perform_before_record, "no_create_without_intent|one_create_per_token|one_job_per_launch"),
    Mutant(retry_create, "one_create_per_token"),
    Mutant(believe_one_empty_lookup, "absence_has_evidence"),
    Mutant(submit_without_review, "no_intent_before_go"),
    Mutant(submit_another_digest, "the_bytes_sent_were_reviewed"),
    Mutant(create_from_a_folded_history, "one_create_per_token"),
    Mutant(drop_a_lost_outcome, "everything_settles"),
    Mutant(withhold_after_creating, "withheld_means_never_called"),
    Mutant(ignore_the_permit, "no_absence_while_a_job_exists|absence_has_evidence"),
    Mutant(speak_after_the_end, "a_terminal_state_stays"),
    Mutant(tell_without_looking, "told_once"),
    Mutant(keep_silent, "never_lost_silently"),
    Mutant(leak_the_value, "no_secret_in_the_log"),
    Mutant(forget_to_watch, "everything_settles"),
)
