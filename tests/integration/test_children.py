"""Waiting for children costs no thread: what else is blocking still gets its turn."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

from gonogo.services.runtime.children import wait_dead


def start(*command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command)


async def test_many_waits_leave_the_threads_to_others() -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(max_workers=1))
    children = [start("sleep", "30") for _ in range(5)]
    waits = [asyncio.ensure_future(wait_dead(child)) for child in children]
    try:
        async with asyncio.timeout(5):
            await asyncio.sleep(0)
            assert await asyncio.to_thread(lambda: "its turn") == "its turn"
            children[0].terminate()
            assert await waits[0] == -signal.SIGTERM
        assert not any(wait.done() for wait in waits[1:])
    finally:
        for child in children:
            child.kill()
        await asyncio.gather(*waits)


async def test_the_exit_code_is_told_also_of_one_that_is_dead_already() -> None:
    child = start("sh", "-c", "exit 7")
    assert await wait_dead(child) == 7
    assert await wait_dead(child) == 7
