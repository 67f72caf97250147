"""The contract cards, held against real processes of this machine."""

from __future__ import annotations

from tests.contracts.backend import BackendContract
from tests.contracts.local_harness import LocalHarness


class TestLocal(BackendContract):
    harness_class = LocalHarness
