"""One check, one file. Each looks at one thing, changes nothing, and says go, no-go or "I cannot see that from here".

`CHECKS` is the poll, in the order in which people read it. A check that does not apply to a request says nothing.
"""

from __future__ import annotations

from gonogo.services.preflight.checks.access import check_access
from gonogo.services.preflight.checks.code_root import check_code_root
from gonogo.services.preflight.checks.command import check_command
from gonogo.services.preflight.checks.disk import check_disk
from gonogo.services.preflight.checks.output import check_output
from gonogo.services.preflight.checks.platform import check_platform
from gonogo.services.preflight.checks.secrets import check_secrets
from gonogo.services.preflight.poll import Check

CHECKS: tuple[Check, ...] = (
    check_platform,
    check_access,
    check_command,
    check_code_root,
    check_output,
    check_disk,
    check_secrets,
)
