"""The request: one shape for every platform, and how problems with it are told.

Durations are normalised to seconds and relative paths to absolute ones before a request gets this shape; its digest is
what "the same request" means.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gonogo.events.ids import digest_of

Purpose = Literal["train", "smoke"]
Platform = Literal[
    "local", "docker", "local-docker", "remote-docker", "slurm", "kubernetes", "brev", "volcengine", "scripted"
]
Scalar = str | int | float | bool


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a request."""


class Problem(_Part, frozen=True, kw_only=True):
    """One thing wrong with a request: where (`resources.time_limit`), what, and what to do about it."""

    path: str
    problem: str
    fix: str


class Copy(_Part, frozen=True, kw_only=True):
    """Run a copy of a source task with these changes."""

    source: str
    task_yaml: str | None = None
    exp_name: str | None = None
    edp_card: str | None = None
    set: dict[str, Scalar] = {}
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


class Config(_Part, frozen=True, kw_only=True):
    """Run a reviewed platform config; its bytes are pinned."""

    file: str


class Tao(_Part, frozen=True, kw_only=True):
    """Run a TAO action of a model."""

    model: str
    action: str
    spec: dict[str, Scalar] = {}


class Run(_Part, frozen=True, kw_only=True):
    """What is run: exactly one of these is set."""

    command: tuple[str, ...] | None = None
    copy: Copy | None = None
    config: Config | None = None
    tao: Tao | None = None


class Acceptance(_Part, frozen=True, kw_only=True):
    """Who accepted the data, and on what evidence."""

    by: str
    evidence: str


class Data(_Part, frozen=True, kw_only=True):
    """Datasets, by role or by spec key, and their acceptance."""

    roots: dict[str, str] = {}
    paths: dict[str, str] = {}
    accepted: Acceptance | None = None


class Resources(_Part, frozen=True, kw_only=True):
    """The compute shape. `time_limit_s`: seconds of wall time, None = the platform's default."""

    nodes: int = 1
    gpus_per_node: int = 0
    time_limit_s: float | None = None


class Monitor(_Part, frozen=True, kw_only=True):
    """How the job is watched: seconds between queries, seconds between reports (None: never), or not at all."""

    poll_s: float = 60.0
    status_every_s: float | None = None
    detach: bool = False


class Authorize(_Part, frozen=True, kw_only=True):
    """A yes given beforehand, and its basis. An agent passes on a person's words, never its own."""

    may: tuple[str, ...]
    basis: str
    by: str | None = None


class Batch(_Part, frozen=True, kw_only=True):
    """Launches submitted together."""

    id: str
    of: int
    close_after_s: float | None = None


class Recovery(_Part, frozen=True, kw_only=True):
    """This launch replaces one that was proven not to have a job."""

    launch: str
    reason: str
    evidence: str


class ShortRun(_Part, frozen=True, kw_only=True):
    """The real short run that a new training config needs."""

    launch: str | None = None
    evidence: str | None = None


class Request(_Part, frozen=True, kw_only=True):
    """One request for a launch, normalised."""

    schema: Literal["gonogo/v1"] = "gonogo/v1"
    name: str
    purpose: Purpose
    platform: Platform
    run: Run
    target: str | None = None
    queue: str | None = None
    code: str | None = None
    image: str | None = None
    data: Data | None = None
    output: str | None = None
    env: dict[str, str] = {}
    secrets: dict[str, str] = {}
    resources: Resources = Resources()
    monitor: Monitor = Monitor()
    notify: tuple[str, ...] = ()
    authorize: Authorize | None = None
    key: str | None = None
    batch: Batch | None = None
    recovery_of: Recovery | None = None
    short_run: ShortRun | None = None
    compare_with: str | None = None
    rerun: bool = False
    time_budget_s: float | None = None
    smoke_first: bool = False
    guard: Literal["on", "off"] = "on"


def request_digest(request: Request) -> str:
    """Digest what "the same request" means: its canonical JSON, the key left out."""
    keyless = msgspec.structs.replace(request, key=None)
    return digest_of(msgspec.json.encode(keyless, order="sorted"))
