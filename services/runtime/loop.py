"""The one loop that runs every worker: order within a history, parallel across histories, record before perform.

The reader folds everything; histories with something to decide get a turn each, at most `TURNS_MAX` at a time. What cannot
be read, or makes a decider fail, is parked and shown: nobody acts on that history until a person has looked.
"""

from __future__ import annotations

import asyncio
from typing import Generic

import structlog

from gonogo.events.base import Event, UnknownEvent
from gonogo.events.envelope import Entry, LogItem, TriggerWord, Unreadable, Utterance
from gonogo.events.ids import History
from gonogo.events.log import Appended, Conflict, EventLog, LogFullError, LogUnavailableError
from gonogo.services.runtime.author import Author
from gonogo.services.runtime.clock import Clock
from gonogo.services.runtime.decision import AtMostOnce, Due, Recovered, Trigger, Woken
from gonogo.services.runtime.leases import Lease
from gonogo.services.runtime.permit import LoopPermit
from gonogo.services.runtime.spool import Spool
from gonogo.services.runtime.thread import Thread
from gonogo.services.runtime.worker import Effect, S, Worker

TURNS_MAX = 256
"""Histories acted on at the same time; the rest wait their turn, so memory and platform load stay bounded."""
RETRY_S = 0.5
"""Pause before the log is asked again when it was away."""
REARM_S = 0.05
"""Shortest time between two timers of one history, so that a due time in the past cannot spin."""

logger: structlog.stdlib.BoundLogger = structlog.get_logger()


class Loop(Generic[S]):
    """Runs one worker over one log."""

    def __init__(
        self,
        worker: Worker[S],
        *,
        log: EventLog,
        clock: Clock,
        lease: Lease,
        spool: Spool,
        author: Author,
    ) -> None:
        """Everything of the world comes in here: the log, time, the lease, the spool and who speaks."""
        self._worker = worker
        self._log = log
        self._clock = clock
        self._lease = lease
        self._spool = spool
        self._author = author
        self._threads: dict[History, Thread[S]] = {}
        self._position = 0
        self._moved = asyncio.Event()
        self._acting = False
        self._turns = asyncio.Semaphore(TURNS_MAX)
        self._group: asyncio.TaskGroup | None = None

    @property
    def parked(self) -> dict[History, str]:
        """Histories nobody acts on, and why."""
        return {thread.history: thread.parked for thread in self._threads.values() if thread.parked}

    @property
    def position(self) -> int:
        """The last sequence this worker has folded."""
        return self._position

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                group.create_task(self._read())
                group.create_task(self._hold())
        finally:
            self._stop_acting()

    async def drain(self, *, within_s: float) -> None:
        """Begin nothing new and let what is under way record its outcome."""
        self._acting = False
        try:
            async with asyncio.timeout(within_s):
                while any(thread.running for thread in self._threads.values()):
                    await self._clock.sleep(REARM_S)
        except TimeoutError:
            logger.warning("turns cut off at the stop", role=self._worker.role)

    def _stop_acting(self) -> None:
        self._acting, self._group = False, None
        for thread in self._threads.values():
            thread.disarm()

    async def _read(self) -> None:
        while True:
            try:
                async for batch in self._log.follow(after=self._position):
                    for item in batch:
                        self._take(item)
                    self._moved.set()
            except LogUnavailableError as error:
                logger.warning("log away", role=self._worker.role, cause=str(error))
                await self._clock.sleep(RETRY_S)

    async def _hold(self) -> None:
        while True:
            await self._lease.wait_held()
            try:
                await self._catch_up_to(await self._log.tail())
                await self._empty_spool()
            except LogUnavailableError as error:
                logger.warning("log away", role=self._worker.role, cause=str(error))
                await self._clock.sleep(RETRY_S)
                continue
            self._acting = True
            now = self._clock.now()
            for thread in list(self._threads.values()):
                self._wake(thread, Recovered(now))
            logger.info("acting", role=self._worker.role, histories=len(self._threads))
            await self._lease.wait_lost()
            self._acting = False
            logger.warning("lease lost: standing by", role=self._worker.role)

    async def _catch_up_to(self, sequence: int) -> None:
        while self._position < sequence:
            self._moved.clear()
            await self._moved.wait()

    def _take(self, item: LogItem) -> None:
        self._position = item.sequence
        history = item.history
        if history is None:
            logger.error("unreadable message", sequence=item.sequence, subject=_subject_of(item))
            return
        if history.kind not in self._worker.kinds:
            return
        thread = self._thread(history)
        if self._advance(thread, item) and self._acting:
            self._wake(thread, Woken(self._clock.now()))

    def _thread(self, history: History) -> Thread[S]:
        thread = self._threads.get(history)
        if thread is None:
            thread = Thread(history, self._worker.initial(history))
            self._threads[history] = thread
        return thread

    def _advance(self, thread: Thread[S], item: LogItem) -> bool:
        """Fold one message into its history, once; whether it was new."""
        if item.sequence <= thread.version:
            return False
        if isinstance(item, Unreadable):
            self._park(thread, f"message {item.sequence} cannot be read: {item.reason}")
        elif thread.parked is None:
            self._fold(thread, item)
        thread.move_to(item.sequence)
        return True

    def _fold(self, thread: Thread[S], entry: Entry) -> None:
        for said in entry.said:
            if isinstance(said.event, UnknownEvent):
                self._park(thread, f"event {said.event.type} ({said.event.dataschema}) is not known to this version")
            try:
                thread.state = self._worker.evolve(thread.state, said)
            except Exception as error:
                logger.exception("fold failed", role=self._worker.role, history=str(thread.history))
                self._park(thread, f"folding {said.id}: {type(error).__name__}: {error}")
            thread.last_id = said.id

    def _park(self, thread: Thread[S], reason: str) -> None:
        if thread.parked is None:
            thread.parked = reason
            logger.error("history parked", role=self._worker.role, history=str(thread.history), reason=reason)

    def _wake(self, thread: Thread[S], trigger: Trigger) -> None:
        """Give the history a turn if there is anything to decide; else only arm its timer."""
        if thread.parked is not None or self._group is None:
            return
        if not thread.offer(trigger):
            return
        if not self._has_something(thread, trigger):
            thread.take()
            self._arm(thread)
            return
        thread.running = True
        self._group.create_task(self._work(thread))

    def _has_something(self, thread: Thread[S], trigger: Trigger) -> bool:
        try:
            decision = self._worker.decide(thread.state, trigger)
        except Exception as error:
            logger.exception("decider failed", role=self._worker.role, history=str(thread.history))
            self._park(thread, f"deciding: {type(error).__name__}: {error}")
            return False
        return bool(decision.record or decision.then)

    async def _work(self, thread: Thread[S]) -> None:
        async with self._turns:
            try:
                while self._acting and thread.parked is None and (trigger := thread.take()) is not None:
                    await self._turn(thread, trigger)
            except Exception as error:
                logger.exception("turn failed", role=self._worker.role, history=str(thread.history))
                self._park(thread, f"{type(error).__name__}: {error}")
            finally:
                thread.running = False
        self._arm(thread)

    async def _turn(self, thread: Thread[S], trigger: Trigger) -> None:
        version = thread.version
        decision = self._worker.decide(thread.state, trigger)
        if not decision.record and not decision.then:
            return
        permit: LoopPermit | None = None
        if decision.record:
            permit = await self._record(thread, decision.record, trigger)
            if permit is None:
                thread.offer(trigger)
                return
        for effect in decision.then:
            if isinstance(effect, AtMostOnce) and permit is None:
                message = f"{type(effect).__name__} was decided without recording its intent"
                raise AssertionError(message)
            result = await self._worker.perform(effect, permit)
            await self._record_outcome(thread, effect, result)
        if thread.version != version:
            thread.offer(Woken(self._clock.now()))

    async def _record(self, thread: Thread[S], events: tuple[Event, ...], trigger: Trigger) -> LoopPermit | None:
        """Append a decision at the version it was made on. None: something else came first, decide again."""
        expected, began = thread.version, self._clock.monotonic()
        utterance = self._utter(thread, events, _word(trigger))
        try:
            answer = await self._log.append(utterance, expected=expected)
        except (LogUnavailableError, LogFullError) as error:
            logger.warning("decision not recorded", history=str(thread.history), cause=str(error))
            await self._clock.sleep(RETRY_S)
            await self._refresh(thread)
            return None
        if isinstance(answer, Conflict):
            await self._refresh(thread)
            return None
        if not any(type(event).__name__.endswith("Intended") for event in events):
            await self._reach(thread, answer.sequence)
        elif not await self._is_first(thread, utterance, expected):
            return None
        return LoopPermit(
            self._log,
            lease=self._lease,
            monotonic=self._clock.monotonic,
            history=thread.history,
            role=self._worker.role,
            intent_sequence=answer.sequence,
            began=began,
        )

    async def _reach(self, thread: Thread[S], sequence: int) -> None:
        """Wait until the follower has folded our own message; ask the log ourselves if that takes long."""
        try:
            async with asyncio.timeout(RETRY_S):
                await thread.reached(sequence)
        except TimeoutError:
            await self._refresh(thread)

    async def _is_first(self, thread: Thread[S], utterance: Utterance, expected: int) -> bool:
        """Read back from the leader what follows `expected`, and see that it is ours."""
        items = await self._read_again(thread, after=expected)
        first = items[0] if items else None
        return isinstance(first, Entry) and first.said[0].id == utterance.id

    async def _refresh(self, thread: Thread[S]) -> None:
        await self._read_again(thread, after=thread.version)

    async def _read_again(self, thread: Thread[S], *, after: int) -> tuple[LogItem, ...]:
        while True:
            try:
                items = await self._log.read(thread.history, after=after)
            except LogUnavailableError as error:
                logger.warning("log away", history=str(thread.history), cause=str(error))
                await self._clock.sleep(RETRY_S)
                continue
            for item in items:
                self._advance(thread, item)
            return items

    async def _record_outcome(self, thread: Thread[S], effect: Effect, result: object) -> None:
        """Append what became of an effect. A fact of an at-most-once effect is never dropped, whoever holds the lease."""
        owed = isinstance(effect, AtMostOnce)
        if not owed and not self._lease.held():
            return
        events = self._worker.conclude(thread.state, result)
        if not events:
            return
        utterance = self._utter(thread, events, "outcome")
        if owed:
            self._spool.keep(utterance)
        began_at = thread.version
        while await self._append_at_tail(thread, utterance, began_at) is None:
            if owed:
                continue
            events = self._worker.conclude(thread.state, result)
            if not events:
                return
            utterance, began_at = self._utter(thread, events, "outcome"), thread.version
        if owed:
            self._spool.forget(utterance)

    async def _append_at_tail(self, thread: Thread[S], utterance: Utterance, began_at: int) -> Appended | None:
        """Append at the version known now. None: something came first, or nobody can tell; nothing of ours is there."""
        try:
            answer = await self._log.append(utterance, expected=thread.version)
        except LogUnavailableError as error:
            logger.warning("outcome waits", history=str(thread.history), cause=str(error))
            await self._clock.sleep(RETRY_S)
            return await self._find_own(thread, utterance, began_at)
        if isinstance(answer, Conflict):
            return await self._find_own(thread, utterance, began_at)
        await self._reach(thread, answer.sequence)
        return answer

    async def _find_own(self, thread: Thread[S], utterance: Utterance, began_at: int) -> Appended | None:
        """See whether an unclear append is there after all, since it was first tried. Advances the thread either way.

        The follower may have moved the thread past our own message, so the thread's version is no place to start from.
        """
        for item in await self._read_again(thread, after=began_at):
            if isinstance(item, Entry) and item.said[0].id == utterance.id:
                return Appended(item.sequence)
        return None

    async def _empty_spool(self) -> None:
        for utterance in self._spool.pending():
            thread = self._thread(utterance.history)
            known = await self._read_again(thread, after=0)
            if not any(isinstance(i, Entry) and i.said[0].id == utterance.id for i in known):
                while await self._append_at_tail(thread, utterance, 0) is None:
                    pass
            self._spool.forget(utterance)

    def _arm(self, thread: Thread[S]) -> None:
        if thread.parked is not None or not self._acting:
            return
        now = self._clock.now()
        due = self._worker.due(thread.state, now)
        if due is None:
            thread.disarm()
            return
        delay = max((due - now).total_seconds(), REARM_S)
        thread.arm(asyncio.get_running_loop().call_later(delay, self._ring, thread))

    def _ring(self, thread: Thread[S]) -> None:
        if self._acting:
            self._wake(thread, Due(self._clock.now()))

    def _utter(self, thread: Thread[S], events: tuple[Event, ...], word: TriggerWord) -> Utterance:
        return self._author.utter(thread.history, self._worker.role, events, trigger=word, caused_by=thread.last_id)


def _word(trigger: Trigger) -> TriggerWord:
    match trigger:
        case Woken():
            return "woken"
        case Due():
            return "due"
        case Recovered():
            return "recovered"


def _subject_of(item: LogItem) -> str:
    return item.subject if isinstance(item, Unreadable) else str(item.history)
