"""Suites that several implementations have to pass."""

import pytest

pytest.register_assert_rewrite("tests.contracts.backend", "tests.contracts.harness", "tests.contracts.inbox")
