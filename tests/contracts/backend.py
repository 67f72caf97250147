"""The contract cards of a backend. Each is a rule that the workers rely on; the same cards run on the fake and the real.

A subclass per platform names its harness. `docs/backends.md` is generated from these classes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import ClassVar, TypeVar

import msgspec
import pytest

from gonogo.events.ids import digest_of
from gonogo.events.job import JobRef
from gonogo.services.backends.port import Accepted, Refused, Unclear
from tests.contracts.harness import LONG, QUICK, TERMINAL, BackendHarness, Shows

CANARY = "canary-7f3d9a-not-to-be-seen"
VALUES: Mapping[str, str] = {
    "SPACES": "  a b  ",
    "SUBSTITUTION": "$(id) ${HOME} `id` $$",
    "QUOTES": 'it\'s "quoted" \\ and \\n',
    "LINES": "one\ntwo\r\n\tthree\n",
    "EMPTY": "",
    "DASH": "--help",
    "GLOB": "* ? [a-z] ~ {a,b} ! # & | ; < >",
    "EMOJI": "火箭 🚀 é",
    "EQUALS": "a=b=c",
    "LARGE": "x" * 20_000,
}
"""Values that shells, templates and encodings like to change."""
F = TypeVar("F", bound=Callable[..., object])


def card(number: str, *needs: Shows) -> Callable[[F], F]:
    """Number a test. It runs only on a platform that can show what it `needs`."""

    def mark(test: F) -> F:
        test.card, test.needs = number, needs  # type: ignore[attr-defined]
        return test

    return mark


class BackendContract:
    """Every card. Subclasses set `harness_class`."""

    harness_class: ClassVar[type[BackendHarness]]

    def __init_subclass__(cls) -> None:
        """Cards that the platform cannot show are not collected: neither run nor claimed."""
        super().__init_subclass__()
        for name, test in cards(BackendContract).items():
            if not cls.harness_class.shows.issuperset(test.needs):
                setattr(cls, name, None)

    @pytest.fixture
    async def harness(self, tmp_path) -> AsyncIterator[BackendHarness]:
        harness = self.harness_class(tmp_path)
        async with harness.lifetime():
            yield harness

    @card("B01")
    async def test_a_created_job_is_seen_by_find_status_and_read_back(self, harness):
        job, rendering = await harness.created(LONG)
        found = (await harness.backend.find(job.name)).found
        assert [sighting.job for sighting in found] == [job]
        assert (await harness.status(job)).state in ("PENDING", "RUNNING")
        facts = await harness.backend.read_back(job, rendering)
        assert facts is not None
        assert facts.job == job
        assert facts.differences == ()
        assert facts.facts["name"] == job.name

    @card("B02", "names")
    async def test_a_name_that_is_taken_is_never_doubled_and_never_called_refused(self, harness):
        job, rendering = await harness.created(LONG)
        again = await harness.backend.create(rendering, {})
        assert isinstance(again, Unclear), (
            f"a job of this name exists, so this was neither created nor refused: {again}"
        )
        assert [sighting.job for sighting in (await harness.backend.find(job.name)).found] == [job]

    @card("B03")
    async def test_only_a_proven_refusal_is_one_and_everything_else_is_unclear(self, harness):
        refused = await harness.refused(harness.rendering(harness.request(LONG), name="card-1"))
        assert isinstance(refused, Refused), refused
        assert refused.proof
        for name, taken in (("card-2", False), ("card-3", True)):
            rendering = harness.rendering(harness.request(LONG, output=harness.output(name)), name=name, root=name)
            reply = await harness.unanswered(rendering, taken=taken)
            assert isinstance(reply, Unclear), reply
        await harness.tick()
        found = [len((await harness.backend.find(name)).found) for name in ("card-1", "card-2", "card-3")]
        assert found == [0, 0, 1]

    @card("B04")
    async def test_find_is_exact_and_covers_jobs_that_have_ended(self, harness):
        ended, _ = await harness.created(QUICK, name="card-1")
        await harness.ended(ended)
        longer, _ = await harness.created(QUICK, name="card-12")
        for name in ("card", "card-", "ard-1", "CARD-1", "card-1 ", "card-*", "card-?", "card-123"):
            assert (await harness.backend.find(name)).found == (), f"{name!r} is nobody's name"
        assert [sighting.job for sighting in (await harness.backend.find("card-1")).found] == [ended]
        assert [sighting.job for sighting in (await harness.backend.find("card-12")).found] == [longer]

    @card("B05")
    async def test_a_search_names_another_job_as_its_control_and_never_the_sought_one(self, harness):
        assert (await harness.backend.find("card-1")).control is None
        await harness.created(QUICK, name="card-1")
        assert (await harness.backend.find("card-1")).control is None
        await harness.created(QUICK, name="card-2")
        assert (await harness.backend.find("card-1")).control is not None

    @card("B06")
    async def test_a_job_that_the_platform_does_not_know_is_unknown_and_never_ended(self, harness):
        stranger = JobRef(id="999999999", name="card-0", identity="nobody")
        assert (await harness.status(stranger)).state == "UNKNOWN"
        assert (await harness.backend.find("card-0")).found == ()
        assert await harness.backend.read_back(stranger, harness.rendering(harness.request(), name="card-0")) is None
        assert not (await harness.backend.stop(stranger)).taken

    @card("B07")
    async def test_a_job_is_its_id_and_name_and_identity_together(self, harness):
        job, _ = await harness.created(LONG)
        for field in ("id", "identity"):
            other = msgspec.structs.replace(job, **{field: "1"})
            assert (await harness.status(other)).state == "UNKNOWN", f"another {field} is another job"
            assert not (await harness.backend.stop(other)).taken, f"another {field} is another job"
        assert (await harness.status(job)).state in ("PENDING", "RUNNING")

    @card("B08")
    async def test_stop_ends_the_job_and_may_be_asked_for_again(self, harness):
        job, _ = await harness.created(LONG)
        await harness.until(job, "RUNNING")
        assert (await harness.backend.stop(job)).taken
        assert (await harness.backend.stop(job)).taken
        assert (await harness.ended(job)).state in ("STOPPED", "CANCELLED")

    @card("B09")
    async def test_stopping_a_job_that_has_ended_changes_nothing(self, harness):
        job, _ = await harness.created(QUICK)
        before = await harness.ended(job)
        assert before.state == "SUCCEEDED"
        await harness.backend.stop(job)
        await harness.tick()
        assert await harness.status(job) == before

    @card("B10")
    async def test_delete_does_what_the_capabilities_claim_and_never_ends_a_job(self, harness):
        alive, _ = await harness.created(LONG, name="card-1")
        assert not (await harness.backend.delete(alive)).taken, "a job that lives is not deleted"
        assert (await harness.status(alive)).state in ("PENDING", "RUNNING")
        ended, _ = await harness.created(QUICK, name="card-2")
        await harness.ended(ended)
        answer = await harness.backend.delete(ended)
        assert answer.taken == harness.backend.capabilities.can_delete
        assert bool((await harness.backend.find("card-2")).found) != answer.taken

    @card("B11")
    async def test_render_is_pure_and_its_digest_covers_every_byte(self, harness):
        request = harness.request(env={"A": "1"}, secrets={"S": "env:S"})
        first, second = harness.rendering(request), harness.rendering(request)
        assert first == second
        assert first.digest == digest_of(first.body.encode())
        assert (await harness.backend.find("card-1")).found == ()
        changes = ({"env": {"A": "2"}}, {"secrets": {"S": "env:T"}}, {"run": harness.request(LONG).run})
        others = [harness.rendering(msgspec.structs.replace(request, **change)) for change in changes]
        others.append(harness.rendering(request, name="card-2"))
        assert len({first.digest, *(other.digest for other in others)}) == len(changes) + 2

    @card("B12", "digest")
    async def test_bytes_that_are_not_the_reviewed_ones_are_refused(self, harness):
        rendering = harness.rendering(harness.request())
        for body in (rendering.body + " ", rendering.body.replace("true", "false"), "not an order"):
            reply = await harness.backend.create(msgspec.structs.replace(rendering, body=body), {})
            assert isinstance(reply, Refused), reply
        assert (await harness.backend.find("card-1")).found == ()

    @card("B13")
    async def test_many_jobs_are_answered_in_one_question(self, harness):
        quick, _ = await harness.created(QUICK, name="card-1")
        long, _ = await harness.created(LONG, name="card-2")
        stranger = JobRef(id="1", name="card-3", identity="nobody")
        await harness.ended(quick)
        answers = await harness.backend.status([quick, long, stranger])
        assert answers[quick].state == "SUCCEEDED"
        assert answers[long].state in ("PENDING", "RUNNING")
        assert stranger not in answers or answers[stranger].state == "UNKNOWN"
        assert await harness.backend.status([]) == {}

    @card("B14", "commands")
    @pytest.mark.parametrize(
        ("command", "state", "exit_code"),
        [
            (("true",), "SUCCEEDED", 0),
            (("sh", "-c", "exit 3"), "FAILED", 3),
            (("sh", "-c", "exit 79"), "FAILED", 79),
            (("sh", "-c", "kill -9 $$"), "FAILED", -9),
            (("/no/such/program",), "FAILED", 127),
        ],
        ids=lambda value: str(value),
    )
    async def test_the_end_of_a_job_is_its_commands_own(self, harness, command, state, exit_code):
        job, _ = await harness.created(command)
        status = await harness.ended(job)
        assert (status.state, status.exit_code, status.duplicate) == (state, exit_code, False)

    @card("B15")
    async def test_a_terminal_state_stays(self, harness):
        job, rendering = await harness.created(QUICK)
        before = await harness.ended(job)
        assert before.state in TERMINAL
        await harness.tick()
        assert await harness.status(job) == before
        facts = await harness.backend.read_back(job, rendering)
        assert facts is not None
        assert facts.differences == ()

    @card("B16", "commands")
    async def test_the_start_guard_turns_the_second_copy_away(self, harness):
        assert harness.backend.capabilities.guard, "a platform that runs commands here has to be able to guard them"
        ran = harness.folder / "ran"
        command = ("sh", "-c", f"echo once >> {ran}")
        output = harness.output("shared")
        request = harness.request(command, output=output)
        jobs = []
        for name in ("card-1", "card-2"):
            reply = await harness.backend.create(harness.rendering(request, name=name, root="one-root"), {})
            assert isinstance(reply, Accepted), reply
            jobs.append(reply.job)
        ends = [await harness.ended(job) for job in jobs]
        assert sorted(end.state for end in ends) == ["STOPPED", "SUCCEEDED"]
        turned_away = next(end for end in ends if end.state == "STOPPED")
        assert (turned_away.exit_code, turned_away.duplicate) == (79, True)
        assert ran.read_text() == "once\n"

    @card("B17", "environment")
    async def test_every_value_arrives_byte_for_byte(self, harness):
        names = " ".join(VALUES)
        script = f'for name in {names} S; do eval "value=\\$$name"; printf %s "$value" > "$GONOGO_OUTPUT/$name"; done'
        secret = "se'cret $(id)\n🚀"
        job, _ = await harness.created(
            ("sh", "-c", script), env=dict(VALUES), secrets={"S": "env:S"}, values={"env:S": secret}
        )
        assert (await harness.ended(job)).state == "SUCCEEDED"
        output = Path(harness.output("card-1"))
        seen = {name: (output / name).read_bytes().decode() for name in (*VALUES, "S")}
        assert seen == {**VALUES, "S": secret}

    @card("B18")
    async def test_no_rendering_reply_or_fact_holds_a_secret(self, harness):
        job, rendering = await harness.created(QUICK, secrets={"S": "env:S"}, values={"env:S": CANARY})
        status = await harness.ended(job)
        facts = await harness.backend.read_back(job, rendering)
        again = await harness.backend.create(rendering, {"env:S": CANARY})
        told = (rendering, status, facts, again, await harness.backend.find(job.name), await harness.backend.stop(job))
        assert CANARY not in repr(told)

    @card("B19", "host")
    async def test_no_command_line_and_no_file_holds_a_secret(self, harness):
        job, _ = await harness.created(LONG, secrets={"S": "env:S"}, values={"env:S": CANARY})
        await harness.until(job, "RUNNING")
        assert CANARY not in harness.command_lines()
        assert harness.files_holding(CANARY) == []
        assert harness.readable_by_others() == []

    @card("B20")
    async def test_the_end_of_the_log_is_cut_to_size(self, harness):
        job, _ = await harness.created(("sh", "-c", "printf 0123456789"))
        await harness.ended(job)
        whole = await harness.backend.logs(job, bytes_max=4096)
        assert whole.text
        assert not whole.truncated
        tail = await harness.backend.logs(job, bytes_max=4)
        assert tail.text == whole.text[-4:]
        assert tail.truncated

    @card("B21", "creator")
    async def test_whenever_the_creator_dies_or_pauses_there_is_one_job_or_none_for_ever(self, harness):
        expected = await harness.kill_creators()
        assert set(expected.values()) == {True, False}
        for name, becomes in expected.items():
            found = (await harness.backend.find(name)).found
            assert len(found) == becomes, f"{name}: {found}"
            if becomes:
                assert (await harness.ended(found[0].job)).state == "SUCCEEDED", name
            ran = harness.folder / f"ran-{name}"
            assert (ran.read_text() if ran.exists() else "") == "once\n" * becomes, name


def cards(contract: type) -> dict[str, Callable[..., object]]:
    """The numbered tests of a contract, by name, in order."""
    found = {name: test for name, test in vars(contract).items() if hasattr(test, "card")}
    return dict(sorted(found.items(), key=lambda item: item[1].card))
