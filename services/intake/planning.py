"""From a request to the plan that a reviewer confirms. Pure: the backend only renders, nothing is looked at."""

from __future__ import annotations

from collections.abc import Mapping

from gonogo.events.ids import attempt_token
from gonogo.events.launch import Plan
from gonogo.events.request import Problem, Request, request_digest
from gonogo.services.backends.port import Backend, RenderWish
from gonogo.services.intake.reading import warnings_of

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
NAME_MAX = 30
"""Of the user's name in the platform's; the token after it makes it unique. Fits 63 characters with room for suffixes."""


def job_name(request: Request, token: str) -> str:
    """The platform name: the user's name where it is plain, else `gonogo`, and always the full token."""
    stem = request.name.lower()[:NAME_MAX].strip("-")
    if not stem or not set(stem) <= PLAIN or not stem[0].isalpha():
        stem = "gonogo"
    return f"{stem}-{token}"


def plan_for(
    request: Request, launch: str, backends: Mapping[str, Backend], *, guard_root: str
) -> Plan | tuple[Problem, ...]:
    """Exactly what would be sent for this request."""
    backend = backends[request.platform]
    problems = backend.problems(request)
    if problems:
        return problems
    token, capabilities = attempt_token(launch), backend.capabilities
    name = job_name(request, token)
    guard = backend.guard_for(request, guard_root) if request.guard == "on" else None
    note = capabilities.guard_note if request.guard == "on" else "off: the request says so"
    wish = RenderWish(request=request, launch=launch, job_name=name, token=token, guard=guard)
    return Plan(
        request_digest=request_digest(request),
        platform=request.platform,
        target=request.target or capabilities.place,
        queue=request.queue,
        job_name=name,
        token=token,
        rendering=backend.render(wish),
        terms=capabilities.terms,
        guard=guard,
        guard_note=note,
        output=request.output,
        image=request.image,
        datasets=_datasets(request),
        secrets=request.secrets,
        may=request.authorize.may if request.authorize else (),
        warnings=warnings_of(request),
    )


def _datasets(request: Request) -> dict[str, str]:
    return {**request.data.roots, **request.data.paths} if request.data else {}
