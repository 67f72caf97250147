"""A worker process of the drill: the ordinary worker, behind a log and a backend that kill it where its launch says so."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

from gonogo.events.envelope import Utterance
from gonogo.events.notification import NotificationIntended
from gonogo.services.runtime import crew
from gonogo.services.runtime.data_dir import DataDir
from gonogo.services.runtime.logging import configure_logging
from gonogo.services.runtime.nats_server import read_credentials
from gonogo.services.runtime.settings import load_settings
from tests.drill.points import POINTS

STOPPED_S = 1.5


class Fate:
    """Reads which point a launch dies at; remembers on disk that it has."""

    def __init__(self, root: Path, worker: str) -> None:
        self._plan = root / "plan"
        self._done = root / "done"
        self._server = root / "server.pid"
        self._worker = worker

    def meet(self, launch: str, when: str, what: str) -> None:
        try:
            point = POINTS[int((self._plan / launch).read_text())]
        except (FileNotFoundError, ValueError):
            return
        if (point.worker, point.when, point.what) != (self._worker, when, what):
            return
        try:
            os.close(os.open(self._done / launch, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        if point.how == "kill-server":
            with suppress(ProcessLookupError):
                os.kill(int(self._server.read_text()), signal.SIGKILL)
        else:
            os.kill(os.getpid(), signal.SIGSTOP if point.how == "stop" else signal.SIGKILL)


class FatefulLog:
    def __init__(self, log, fate: Fate) -> None:
        self._log = log
        self._fate = fate
        self._notices: dict[str, str] = {}

    def __getattr__(self, name: str):
        return getattr(self._log, name)

    async def append(self, utterance: Utterance, *, expected: int):
        launch = utterance.history.id
        for said in utterance.said:
            if isinstance(said.event, NotificationIntended):
                self._notices[launch] = said.event.launch
        launch = self._notices.get(launch, launch)
        names = [type(said.event).__name__ for said in utterance.said]
        for name in names:
            self._fate.meet(launch, "before", name)
        answer = await self._log.append(utterance, expected=expected)
        for name in names:
            self._fate.meet(launch, "after", name)
        return answer


class FatefulBackend:
    def __init__(self, backend, fate: Fate) -> None:
        self._backend = backend
        self._fate = fate

    def __getattr__(self, name: str):
        return getattr(self._backend, name)

    async def create(self, rendering, secrets):
        import json

        token = json.loads(rendering.body)["token"]
        self._fate.meet(token, "before", "create")
        reply = await self._backend.create(rendering, secrets)
        self._fate.meet(token, "after", "create")
        return reply


def main(root: Path, worker: str) -> None:
    data_dir = DataDir(root / "data")
    configure_logging(level="error", form="json", role=worker)
    credentials = read_credentials(data_dir)
    assert credentials is not None
    fate = Fate(root, worker)
    post = crew.Post(
        worker=worker,
        settings=load_settings(data_dir.root),
        access=credentials.access(crew.WORKERS[worker]),
        sole=True,
        environment=dict(os.environ),
    )
    plain = crew.backends_for

    def fateful(data_dir: DataDir, environment):
        return {name: FatefulBackend(backend, fate) for name, backend in plain(data_dir, environment).items()}

    with patch.object(crew, "backends_for", fateful):
        asyncio.run(crew.work_until_signalled(post, behind=lambda log: FatefulLog(log, fate)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
