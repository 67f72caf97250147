"""When an empty search proves that there is no job, and when to search next."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.events.launch import CreateTerms
from gonogo.projections.submissions import InDoubt, Look, Settled
from gonogo.services.submitter.evidence import absence_evidence, lineages, next_look_at, next_name_watch_at
from tests import examples as ex
from tests.spec import second

GRACE, SETTLE = 60, 10
AUTHORITATIVE = msgspec.structs.replace(ex.TERMS, authoritative_negative=True)
QUICK = msgspec.structs.replace(ex.TERMS, settle_s=0)
SLOW = msgspec.structs.replace(ex.TERMS, settle_s=400)


def empty(seconds: float, control: str | None = "xx") -> Look:
    return Look(at=second(seconds), complete=True, found=(), control=control)


def failed(seconds: float) -> Look:
    return Look(at=second(seconds), complete=False, found=(), control=None)


def full(seconds: float) -> Look:
    return Look(at=second(seconds), complete=True, found=(ex.SIGHTING,), control="xx")


def doubt(*looks: Look, terms: CreateTerms = ex.TERMS) -> InDoubt:
    intent = msgspec.structs.replace(ex.submission_intended, terms=terms)
    return InDoubt(intent=intent, since=second(0), cause="no answer", looks=looks)


def next_second(*looks: Look, terms: CreateTerms = ex.TERMS) -> float:
    return (next_look_at(doubt(*looks, terms=terms)) - second(0)).total_seconds()


def proven_at(*looks: Look, terms: CreateTerms = ex.TERMS) -> tuple[float, ...] | None:
    verdict = absence_evidence(doubt(*looks, terms=terms))
    return None if verdict is None else tuple((at - second(0)).total_seconds() for at in verdict.looked_up_at)


def test_two_controlled_look_ups_after_the_grace_and_a_settle_time_apart_prove_absence() -> None:
    assert proven_at(empty(GRACE), empty(GRACE + SETTLE)) == (GRACE, GRACE + SETTLE)


def test_one_look_up_proves_nothing() -> None:
    assert proven_at() is None
    assert proven_at(empty(GRACE)) is None


def test_look_ups_less_than_a_settle_time_apart_prove_nothing() -> None:
    assert proven_at(empty(GRACE), empty(GRACE + SETTLE - 0.1)) is None


def test_a_look_up_before_the_end_of_the_grace_proves_nothing() -> None:
    assert proven_at(empty(GRACE - 0.1), empty(GRACE + SETTLE - 0.1)) is None
    assert proven_at(empty(GRACE - 0.1), empty(GRACE), empty(GRACE + SETTLE)) == (GRACE, GRACE + SETTLE)


def test_a_look_up_without_a_control_proves_nothing() -> None:
    assert proven_at(empty(GRACE, None), empty(GRACE + SETTLE, None)) is None
    assert proven_at(empty(GRACE), empty(GRACE + SETTLE, None)) is None


def test_an_incomplete_look_up_proves_nothing_whatever_its_control() -> None:
    incomplete = msgspec.structs.replace(empty(GRACE + SETTLE), complete=False)
    assert proven_at(empty(GRACE), incomplete) is None


@pytest.mark.parametrize("useless", [failed(65), full(65), empty(65, None)], ids=["failed", "full", "uncontrolled"])
def test_a_look_up_that_proves_nothing_starts_the_count_again(useless: Look) -> None:
    assert proven_at(empty(60), useless, empty(70)) is None
    assert proven_at(empty(60), useless, empty(70), empty(80)) == (70, 80)


def test_the_first_and_the_last_look_up_are_the_evidence() -> None:
    looks = (empty(60, "a"), empty(65, "b"), empty(70, "c"))
    verdict = absence_evidence(doubt(*looks))
    assert verdict is not None
    assert not verdict.declared
    assert verdict.looked_up_at == (second(60), second(70))
    assert verdict.evidence == (
        f"two complete look-ups, 10 s apart (settle time 10 s: measured), show no {ex.JOB_NAME!r} but do show a and c"
    )


def test_one_look_up_after_the_grace_is_proof_where_the_platforms_own_negative_is() -> None:
    assert proven_at(empty(GRACE, None), terms=AUTHORITATIVE) == (GRACE,)
    assert proven_at(empty(GRACE - 0.1), terms=AUTHORITATIVE) is None
    assert proven_at(failed(GRACE), terms=AUTHORITATIVE) is None
    assert proven_at(full(GRACE), terms=AUTHORITATIVE) is None


def test_authoritative_evidence_names_the_last_look_up_and_the_job() -> None:
    verdict = absence_evidence(doubt(empty(60), empty(61), terms=AUTHORITATIVE))
    assert verdict is not None
    assert verdict.looked_up_at == (second(61),)
    assert verdict.evidence == (
        f"the platform's own record has no {ex.JOB_NAME!r}; its negative by name is authoritative"
    )


def test_without_a_settle_time_one_controlled_look_up_after_the_grace_is_enough() -> None:
    assert proven_at(empty(GRACE), terms=QUICK) == (GRACE, GRACE)


@given(
    st.lists(
        st.tuples(st.floats(min_value=0, max_value=200), st.booleans(), st.sampled_from((None, "xx")), st.booleans()),
        max_size=8,
    )
)
def test_whatever_is_looked_up_absence_is_never_said_on_less(raw: list[tuple[float, bool, str | None, bool]]) -> None:
    looks = tuple(
        Look(at=second(seconds), complete=complete, found=(ex.SIGHTING,) if seen else (), control=control)
        for seconds, complete, control, seen in sorted(raw, key=lambda one: one[0])
    )
    verdict = absence_evidence(doubt(*looks))
    if verdict is not None:
        first, last = verdict.looked_up_at
        since = [look for look in looks if look.at >= first]
        assert first >= second(GRACE)
        assert (last - first).total_seconds() >= SETTLE
        assert all(look.complete and look.control and not look.found for look in since if first < look.at <= last)


def test_the_first_look_up_is_due_at_once() -> None:
    assert next_second() == 0


def test_a_look_up_before_the_end_of_the_grace_is_repeated_when_it_ends() -> None:
    assert next_second(empty(1)) == GRACE
    assert next_second(failed(30)) == GRACE


def test_look_ups_around_the_end_of_the_grace_are_a_second_apart() -> None:
    assert next_second(empty(59.5)) == 60.5


def test_the_second_look_up_that_counts_is_due_a_settle_time_after_the_first() -> None:
    assert next_second(empty(GRACE)) == GRACE + SETTLE


def test_look_ups_are_at_least_a_second_apart() -> None:
    assert next_second(empty(GRACE), terms=QUICK) == GRACE + 1
    assert next_second(failed(GRACE), terms=QUICK) == GRACE + 2


def test_look_ups_that_prove_nothing_are_repeated_at_doubled_intervals() -> None:
    useless = [failed(60), failed(61), empty(62, None), full(63)]
    assert [next_second(*useless[: n + 1]) for n in range(4)] == [60 + 20, 61 + 40, 62 + 80, 63 + 160]


def test_a_look_up_that_counts_ends_the_doubling() -> None:
    assert next_second(failed(60), failed(61), empty(62)) == 62 + SETTLE
    assert next_second(failed(60), failed(61), empty(62), failed(63)) == 63 + 2 * SETTLE


def test_look_ups_that_prove_nothing_are_at_most_five_minutes_apart() -> None:
    assert next_second(*(failed(60 + n) for n in range(5))) == 64 + 300
    assert next_second(*(failed(60 + n) for n in range(50))) == 109 + 300


def test_the_doubling_stops_in_time_for_a_clock_to_bear_it() -> None:
    assert next_second(*(failed(60) for _ in range(2000))) == 60 + 300


def test_a_settle_time_of_more_than_five_minutes_is_waited_for_whole() -> None:
    assert next_second(failed(60), terms=SLOW) == 60 + 400
    assert next_second(empty(60), terms=SLOW) == 60 + 400


def test_short_settle_times_are_doubled_at_most_eight_times() -> None:
    terms = msgspec.structs.replace(ex.TERMS, settle_s=1)
    assert next_second(*(failed(60) for _ in range(7)), terms=terms) == 60 + 128
    assert next_second(*(failed(60) for _ in range(8)), terms=terms) == 60 + 256
    assert next_second(*(failed(60) for _ in range(9)), terms=terms) == 60 + 256


def test_a_name_without_a_job_is_watched_for_a_day_at_seven_ages() -> None:
    settled = Settled(intent=ex.submission_intended, how="absent", at=second(0))
    stages = [msgspec.structs.replace(settled, looks=looks) for looks in range(7)]
    found = [next_name_watch_at(stage) for stage in stages]
    minutes = [(at - second(0)).total_seconds() / 60 for at in found if at is not None]
    assert minutes == [1, 5, 15, 60, 240, 720, 1440]


def test_the_watch_over_a_name_ends_after_its_last_look() -> None:
    assert next_name_watch_at(Settled(intent=ex.submission_intended, how="absent", at=second(0), looks=7)) is None


def test_copies_of_one_lineage_count_once_and_jobs_without_one_count_each() -> None:
    alone = (ex.SIGHTING, ex.SECOND_SIGHTING)
    copies = tuple(msgspec.structs.replace(one, lineage="17") for one in alone)
    assert lineages(()) == frozenset()
    assert lineages(alone) == {"cluster-a/17", "cluster-a/18"}
    assert lineages(copies) == {"17"}
    assert lineages((copies[0], alone[1])) == {"17", "cluster-a/18"}


def test_the_same_id_on_two_platforms_is_two_jobs() -> None:
    elsewhere = msgspec.structs.replace(ex.SIGHTING, job=msgspec.structs.replace(ex.JOB, identity="cluster-b"))
    assert len(lineages((ex.SIGHTING, elsewhere))) == 2
