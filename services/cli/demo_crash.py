"""The demo's submitter: it dies, once, at the worst moment there is: the platform has the job, and the log does not know.

Run by the demo in place of the ordinary worker process; everything else about it is the ordinary worker.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from gonogo.events.envelope import LogItem, Utterance
from gonogo.events.ids import History
from gonogo.events.log import Appended, Conflict, EventLog
from gonogo.events.submission import SubmissionAccepted
from gonogo.services.runtime.crew import Post, work_until_signalled
from gonogo.services.runtime.data_dir import DataDir
from gonogo.services.runtime.logging import configure_logging
from gonogo.services.runtime.nats_server import read_credentials
from gonogo.services.runtime.settings import load_settings

MARK = "the-crash-has-happened"


class DeadlyLog:
    """The log, but the first word of an accepted job is never finished."""

    def __init__(self, log: EventLog, mark: Path) -> None:
        """`mark` remembers across the restart that it happened."""
        self._log = log
        self._mark = mark

    async def append(self, utterance: Utterance, *, expected: int) -> Appended | Conflict:
        """Pass on, or die."""
        accepted = any(isinstance(said.event, SubmissionAccepted) for said in utterance.said)
        if accepted and not self._mark.exists():
            self._mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return await self._log.append(utterance, expected=expected)

    async def read(self, history: History, *, after: int = 0) -> tuple[LogItem, ...]:
        """Pass on."""
        return await self._log.read(history, after=after)

    async def tail(self) -> int:
        """Pass on."""
        return await self._log.tail()

    def follow(self, *, after: int) -> AsyncIterator[Sequence[LogItem]]:
        """Pass on."""
        return self._log.follow(after=after)


def main(data_dir: Path) -> None:
    """Work as the submitter of this data dir."""
    configure_logging(level="error", form="auto", role="submitter")
    credentials = read_credentials(DataDir(data_dir))
    assert credentials is not None
    post = Post(
        worker="submitter",
        settings=load_settings(data_dir),
        access=credentials.access("submitter"),
        sole=True,
        environment=dict(os.environ),
    )
    asyncio.run(work_until_signalled(post, behind=lambda log: DeadlyLog(log, data_dir / MARK)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
