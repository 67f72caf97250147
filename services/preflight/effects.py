"""How preflight looks at the world. The only file of this room that knows the backends; it reads and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from gonogo.services.backends.port import Backend
from gonogo.services.preflight.checks import CHECKS
from gonogo.services.preflight.decider import RunChecks, Verdicts
from gonogo.services.preflight.poll import Check, Station, Verdict
from gonogo.services.runtime.decision import AtMostOnce, Repeatable
from gonogo.services.runtime.worker import Permit


class Checking:
    """Runs the poll over the backends it was given, by platform name."""

    def __init__(
        self,
        backends: Mapping[str, Backend],
        environment: Mapping[str, str],
        checks: tuple[Check, ...] = CHECKS,
    ) -> None:
        """`environment` is where `env:` secrets and the job's path are looked for."""
        self._backends = backends
        self._environment = environment
        self._checks = checks

    async def perform(self, effect: AtMostOnce | Repeatable, permit: Permit | None) -> object:
        """Run every check; a check that fails to run says so as a verdict."""
        _ = permit
        if not isinstance(effect, RunChecks):
            message = f"preflight has no way to perform {type(effect).__name__}"
            raise AssertionError(message)  # noqa: TRY004 - our own mistake, not a caller's
        station = Station(
            request=effect.request,
            plan=effect.plan,
            backend=self._backends[effect.plan.platform],
            environment=self._environment,
            round=effect.round,
        )
        said = [await _run(check, station) for check in self._checks]
        return Verdicts(effect.round, tuple(verdict for verdict in said if verdict is not None))


async def _run(check: Check, station: Station) -> Verdict | None:
    try:
        return await check(station)
    except Exception as error:  # a check that breaks must not hide the others, and must not be a go
        name = check.__name__.removeprefix("check_")
        return station.blind(name, f"the check itself failed: {type(error).__name__}: {error}")
