"""What no single field can show: fields that contradict each other, and fields that one platform or purpose demands."""

from __future__ import annotations

from gonogo.events.request import Request
from gonogo.services.intake.reading_fields import Findings

ONE_HOST = frozenset(("local", "docker", "local-docker", "remote-docker"))
QUEUED = frozenset(("slurm", "volcengine"))


def decline_contradictions(request: Request, findings: Findings) -> None:
    """Note what cannot all be meant. The request is well formed in itself, or a draft of its readable fields."""
    _places(request, findings)
    _names(request, findings)
    _platform(request, findings)
    _watch(request, findings)
    _purpose(request, findings)


def _places(request: Request, findings: Findings) -> None:
    if request.purpose == "train" and request.output is None:
        findings.add("output", "missing", "say where results go, e.g. output: runs/tiny-train (must not exist yet)")
    if request.run.command is not None and request.code is None and request.platform in ONE_HOST:
        findings.add("code", "missing", "say in which folder the command runs, e.g. code: /home/me/project")
    if request.output is None or request.code is None:
        return
    if request.code == request.output or request.code.startswith(f"{request.output}/"):
        fix = "write results to a new folder, e.g. one below the code: runs/tiny-train"
        findings.add("output", "the code is in it, so it exists already", fix)


def _names(request: Request, findings: Findings) -> None:
    for name in sorted(request.env.keys() & request.secrets.keys()):
        findings.add(f"secrets.{name}", f"{name} is in env too", "keep it in one of them: secrets if it is one")


def _platform(request: Request, findings: Findings) -> None:
    if request.platform in ONE_HOST and request.resources.nodes > 1:
        what = f"{request.resources.nodes} nodes, but {request.platform} is one machine"
        findings.add("resources.nodes", what, "write nodes: 1, or take a cluster platform")
    if request.platform == "local" and request.queue is not None:
        findings.add("queue", "local has no queues", "leave it out")
    if request.platform in QUEUED and request.queue is None:
        what = f"missing; {request.platform} never picks a queue by itself"
        findings.add("queue", what, "name the queue (slurm: platform-default is a word for the cluster's own)")
    accepted = request.data.accepted if request.data else None
    if request.platform == "volcengine" and request.purpose == "train" and accepted is None:
        findings.add("data.accepted", "missing for a training", 'add who accepted the data: {by: …, evidence: "…"}')


def _watch(request: Request, findings: Findings) -> None:
    every = request.monitor.status_every_s
    if every is not None and request.monitor.detach:
        findings.add("monitor.status_every", "a detached launch reports nothing", "write never, or detach: false")
    elif every is not None and every < request.monitor.poll_s:
        what = "more often than the platform is asked (monitor.poll)"
        findings.add("monitor.status_every", what, f"write {request.monitor.poll_s:g}s or more, or a shorter poll")


def _purpose(request: Request, findings: Findings) -> None:
    if request.purpose == "smoke" and request.smoke_first:
        findings.add("smoke_first", "this launch is the smoke itself", "leave it out")
    if request.purpose == "smoke" and request.short_run is not None:
        findings.add("short_run", "a smoke needs no short run", "leave it out")
    if request.rerun and request.run.copy is None:
        findings.add("rerun", "only a copy can be a rerun", "leave it out, or use run: {copy: …}")
    authorize = request.authorize
    if authorize is not None and "yield-placeholders" in authorize.may and "submit" not in authorize.may:
        findings.add("authorize.may", "placeholders would yield for nothing", "add submit, or leave it out")
