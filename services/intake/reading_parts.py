"""The parts of a request, each read from its object. What is wrong is noted; what is right is returned."""

from __future__ import annotations

import shlex

from gonogo.events.request import (
    Acceptance,
    Authorize,
    Batch,
    Config,
    Copy,
    Data,
    Monitor,
    Recovery,
    Resources,
    Run,
    ShortRun,
    Tao,
)
from gonogo.services.intake.reading_fields import Section
from gonogo.services.intake.reading_json import shown
from gonogo.services.intake.reading_near import Fault, word_fault
from gonogo.services.intake.rules_text import (
    launch_fault,
    name_fault,
    normal_path,
    path_fault,
    place_fault,
    seconds,
    sentence_fault,
    setting_fault,
    token_fault,
)

NODES_MAX = 4_096
GPUS_PER_NODE_MAX = 128
BATCH_MAX = 1_000
WORD_CHARACTERS_MAX = 32_768
"""Of one word of a command; the systems below take four times that, together with the environment."""
POLL_LOCAL_S = 1.0
"""Asking the own machine costs nothing."""
POLL_S = 60.0
"""Platforms count their callers' queries."""
STATUS_EVERY_TAO_S = 300.0
"""What a TAO user expects when nothing is said; others are told of changes only."""
TIME_LIMIT_S = 24 * 3600.0
"""A limit is always stated: a job that hangs must end without anybody watching."""
MAY = ("submit", "yield-placeholders")


def run_of(section: Section | None) -> Run:
    """Read what is run: exactly one kind."""
    if section is None:
        return Run()
    kinds = [kind for kind in ("command", "copy", "config", "tao") if section.has(kind)]
    if len(kinds) != 1:
        found = f"{' and '.join(kinds)} together" if kinds else "says nothing to run"
        section.findings.add(section.path, found, 'keep exactly one, e.g. {command: ["python3", "train.py"]}')
    return Run(command=_command(section), copy=_copy(section), config=_config(section), tao=_tao(section))


def _command(section: Section) -> tuple[str, ...] | None:
    written, here = section.members.get("command"), section.at("command")
    if isinstance(written, str):
        fix = f"write it as a list of words, e.g. {_as_list(written)}"
        section.findings.add(here, "a text where a list of words belongs (no shell reads it)", fix)
        return None
    words = section.texts("command", _word_fault)
    if words is not None and (not words or not words[0].strip()):
        fix = 'begin with a program, e.g. ["python3", "train.py"]'
        section.findings.add(here, "no program to run", fix)
    return words


def _word_fault(word: str) -> Fault:
    if len(word) <= WORD_CHARACTERS_MAX:
        return None
    return f"{len(word)} characters in one word", "put long text into a file that the command reads"


def _as_list(line: str) -> str:
    try:
        words = shlex.split(shown(line, characters_max=200))
    except ValueError:
        words = []
    return "[" + ", ".join(f'"{word}"' for word in words or ["python3", "train.py"]) + "]"


def _copy(section: Section) -> Copy | None:
    copy = section.section("copy", Copy)
    if copy is None:
        return None
    copy.require("source", "source: t-20260102030405-ab1cd")
    return Copy(
        source=copy.text("source", name_fault) or "",
        task_yaml=copy.text("task_yaml", _inner_path_fault),
        exp_name=copy.text("exp_name", name_fault),
        edp_card=copy.text("edp_card", name_fault),
        set=copy.scalars("set", key_rule=setting_fault),
        keep=copy.texts("keep", setting_fault) or (),
        drop=copy.texts("drop", setting_fault) or (),
    )


def _inner_path_fault(path: str) -> Fault:
    """Hold a path within the code root to the rules of paths."""
    return path_fault(path if path.startswith("/") else f"/{path}")


def _config(section: Section) -> Config | None:
    config = section.section("config", Config)
    if config is None:
        return None
    config.require("file", "file: /home/me/task.yaml")
    return Config(file=path_of(config, "file") or "")


def _tao(section: Section) -> Tao | None:
    tao = section.section("tao", Tao)
    if tao is None:
        return None
    tao.require("model", "model: rtdetr")
    tao.require("action", "action: train")
    return Tao(
        model=tao.text("model", name_fault) or "",
        action=tao.text("action", name_fault) or "",
        spec=tao.scalars("spec", key_rule=setting_fault),
    )


def path_of(section: Section, name: str) -> str | None:
    """Read an absolute path in its one spelling."""
    path = section.text(name, path_fault)
    return normal_path(path) if path is not None else None


def data_of(section: Section | None) -> Data | None:
    """Where datasets are, and who accepted them."""
    if section is None:
        return None
    accepted = section.section("accepted", Acceptance)
    acceptance = None
    if accepted is not None:
        accepted.require("by", "by: data-owner")
        accepted.require("evidence", 'evidence: "count report of 30 November"')
        by, evidence = accepted.text("by", sentence_fault), accepted.text("evidence", sentence_fault)
        acceptance = Acceptance(by=by or "", evidence=evidence or "")
    return Data(
        roots=section.table("roots", key_rule=setting_fault, rule=place_fault),
        paths=section.table("paths", key_rule=setting_fault, rule=place_fault),
        accepted=acceptance,
    )


def resources_of(section: Section | None) -> Resources:
    """Read the compute shape. Left out: one node, no GPU, a day."""
    if section is None:
        return Resources(time_limit_s=TIME_LIMIT_S)
    limit = section.number_text("time_limit", seconds)
    return Resources(
        nodes=section.integer("nodes", least=1, most=NODES_MAX, default=1),
        gpus_per_node=section.integer("gpus_per_node", least=0, most=GPUS_PER_NODE_MAX, default=0),
        time_limit_s=TIME_LIMIT_S if limit is None else limit,
    )


def monitor_of(section: Section | None, *, platform: str | None, tao: bool) -> Monitor:
    """How the job is watched. Left out: a local job every second, others every minute; reports on changes only."""
    poll = POLL_LOCAL_S if platform == "local" else POLL_S
    every = STATUS_EVERY_TAO_S if tao else None
    if section is None:
        return Monitor(poll_s=poll, status_every_s=every)
    if section.members.get("status_every") == "never":
        every = None
    elif section.has("status_every"):
        every = section.number_text("status_every", seconds)
    stated = section.number_text("poll", seconds)
    return Monitor(
        poll_s=poll if stated is None else stated,
        status_every_s=every,
        detach=section.flag("detach"),
    )


def authorize_of(section: Section | None) -> Authorize | None:
    """Read a yes given beforehand; without its basis it is none."""
    if section is None:
        return None
    section.require("may", "may: [submit]")
    section.require("basis", 'basis: "chat of 30 November, 14:02"')
    may = section.texts("may", lambda word: _may_fault(word, section))
    if may == ():
        section.findings.add(section.at("may"), "empty", "write may: [submit], or leave authorize out and be asked")
    basis, by = section.text("basis", sentence_fault), section.text("by", sentence_fault)
    return Authorize(may=may or (), basis=basis or "", by=by)


def _may_fault(word: str, section: Section) -> Fault:
    later = section.findings.not_yet.get(f"authorize.may.{word}")
    if later is not None:
        return f"not yet: {later}", "leave it out: no placeholder is touched"
    return word_fault(word, MAY, among="any of")


def batch_of(section: Section | None) -> Batch | None:
    """Which launches belong together, and when the batch closes without the missing ones."""
    if section is None:
        return None
    section.require("id", "id: sweep-7")
    section.require("of", "of: 4")
    return Batch(
        id=section.text("id", token_fault) or "",
        of=section.integer("of", least=1, most=BATCH_MAX, default=1),
        close_after_s=section.number_text("close_after", seconds),
    )


def recovery_of(section: Section | None) -> Recovery | None:
    """Which launch this one replaces, and why that is safe."""
    if section is None:
        return None
    for name in ("launch", "reason", "evidence"):
        section.require(name, f"{name}: …")
    launch, reason = section.text("launch", launch_fault), section.text("reason", sentence_fault)
    evidence = section.text("evidence", sentence_fault)
    return Recovery(launch=launch or "", reason=reason or "", evidence=evidence or "")


def short_run_of(section: Section | None) -> ShortRun | None:
    """Read the real short run of a new training config: a launch, or evidence of one elsewhere."""
    if section is None:
        return None
    if section.has("launch") == section.has("evidence"):
        section.findings.add(section.path, "names no short run, or two", "keep one: {launch: …} or {evidence: …}")
    return ShortRun(launch=section.text("launch", launch_fault), evidence=section.text("evidence", sentence_fault))
