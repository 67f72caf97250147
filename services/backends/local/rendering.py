"""What a local job is made of, as the bytes that are reviewed and handed to its supervisor. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath, PurePosixPath

import msgspec

from gonogo.events.ids import digest_of
from gonogo.events.launch import Guard, Rendering
from gonogo.events.request import Problem, Request
from gonogo.services.backends.port import RenderWish


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """The supervisor's order. `secrets` maps variable to reference; values are nowhere in here."""

    name: str
    token: str
    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    secrets: dict[str, str]
    output: str | None
    run_dir: str
    guard: Guard | None
    time_limit_s: float | None


def render(wish: RenderWish, *, runs_dir: PurePath, base_env: Mapping[str, str]) -> Rendering:
    """The order for a request, as canonical JSON."""
    request = wish.request
    own = {"GONOGO_LAUNCH": wish.launch, "GONOGO_JOB_NAME": wish.job_name}
    if request.output is not None:
        own["GONOGO_OUTPUT"] = request.output
    order = Order(
        name=wish.job_name,
        token=wish.token,
        argv=request.run.command or (),
        cwd=request.code or "/",
        env={**base_env, **request.env, **own},
        secrets=request.secrets,
        output=request.output,
        run_dir=str(runs_dir / wish.job_name),
        guard=wish.guard,
        time_limit_s=request.resources.time_limit_s,
    )
    body = msgspec.json.encode(order, order="sorted")
    return Rendering(body=body.decode(), digest=digest_of(body))


def differences(held: bytes, planned: Rendering) -> tuple[str, ...]:
    """What the supervisor's order says otherwise than the plan, field by field; of environments only the names."""
    if digest_of(held) == planned.digest:
        return ()
    plan = msgspec.json.decode(planned.body, type=Order)
    try:
        order = msgspec.json.decode(held, type=Order)
    except msgspec.MsgspecError:
        return ("the supervisor's order cannot be read",)
    found = [
        f"{field}: planned {getattr(plan, field)!r}, the supervisor has {getattr(order, field)!r}"
        for field in Order.__struct_fields__
        if field not in ("env", "secrets") and getattr(plan, field) != getattr(order, field)
    ]
    names = {
        name for name, _ in (plan.env.items() ^ order.env.items()) | (plan.secrets.items() ^ order.secrets.items())
    }
    if names:
        found.append(f"the environment differs in {', '.join(sorted(names))}")
    return tuple(found) or ("the supervisor's order has other bytes than the planned one",)


def guard_for(request: Request, root: str) -> Guard | None:
    """Claimed beside the output, where every copy of the launch would write. Without an output there is no such place."""
    if request.output is None:
        return None
    place = PurePosixPath(request.output).parent / ".gonogo" / f"{root}.claim"
    return Guard(root=root, claim_path=str(place))


def problems(request: Request) -> tuple[Problem, ...]:
    """What a local process cannot be."""
    found: list[Problem] = []
    if request.run.command is None:
        fix = "give run: {command: [program, argument, …]}"
        found.append(Problem(path="run", problem="the local platform runs commands only", fix=fix))
    if request.resources.nodes != 1:
        what = f"{request.resources.nodes} nodes: this machine is one"
        found.append(Problem(path="resources.nodes", problem=what, fix="use 1, or another platform"))
    return tuple(found)
