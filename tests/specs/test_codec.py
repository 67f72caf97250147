"""Bytes ⇄ events: nothing is lost, nothing is believed that its role may not say, nothing secret is written."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonogo.events import codec
from gonogo.events.base import HISTORY_KINDS, ROLES, Event, Role, UnknownEvent
from gonogo.events.catalogue import EVENTS, dataschema_of
from gonogo.events.envelope import Entry, LogItem, Said, TriggerWord, Unreadable, Utterance
from gonogo.events.ids import History, trace_parent
from gonogo.events.log import UnreadableEventError
from gonogo.events.redaction import known_secret
from gonogo.events.subjects import event_subject
from gonogo.events.submission import SubmissionUnresolved, SubmissionVerified
from tests.contracts.speech import AT, INTENT, OUTCOME, remark, utter
from tests.golden.scenes import SCENES

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HISTORY = History("launch", "abc")
SUBJECT = event_subject(HISTORY, "submitter")
TIMES = st.datetimes(timezones=st.just(UTC))
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12).filter(lambda text: not known_secret(text))


def values_of(kind: msgspec.inspect.Type) -> st.SearchStrategy[Any]:
    """Anything that a field may hold."""
    match kind:
        case msgspec.inspect.StrType():
            return TEXTS
        case msgspec.inspect.IntType():
            return st.integers(-(2**63), 2**63 - 1)
        case msgspec.inspect.FloatType():
            return st.floats(allow_nan=False, allow_infinity=False)
        case msgspec.inspect.BoolType():
            return st.booleans()
        case msgspec.inspect.NoneType():
            return st.none()
        case msgspec.inspect.DateTimeType():
            return TIMES
        case msgspec.inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case msgspec.inspect.UnionType(types=types):
            return st.one_of([values_of(each) for each in types])
        case msgspec.inspect.VarTupleType(item_type=item):
            return st.lists(values_of(item), max_size=3).map(tuple)
        case msgspec.inspect.DictType(key_type=key, value_type=value):
            return st.dictionaries(values_of(key), values_of(value), max_size=3)
        case msgspec.inspect.StructType(cls=cls, fields=fields):
            return st.builds(cls, **{field.name: values_of(field.type) for field in fields})
        case _:
            message = f"no strategy for {kind}"
            raise AssertionError(message)


def saying(event: Event, role: Role, *, at: datetime = AT, trigger: TriggerWord = "due") -> Said:
    return Said(
        id="i-1",
        event=event,
        role=role,
        instance="i",
        observed_at=at,
        recorded_at=at,
        stored_at=AT,
        sequence=7,
        caused_by="i-0",
        trigger=trigger,
    )


@cache
def examples() -> dict[str, Event]:
    """One of every event."""
    messages = (message for scene in SCENES for message in scene().messages)
    entries = (decode(message.body.encode(), message.subject) for message in messages)
    events = (said.event for entry in entries if isinstance(entry, Entry) for said in entry.said)
    return {type(event).__name__: event for event in events}


def decode(body: bytes, subject: str = SUBJECT) -> LogItem:
    return codec.decode(subject, body, sequence=7, stored_at=AT)


def reason(body: bytes, subject: str = SUBJECT) -> str:
    item = decode(body, subject)
    assert isinstance(item, Unreadable), item
    assert (item.subject, item.sequence) == (subject, 7)
    return item.reason


@pytest.mark.parametrize("name", EVENTS)
@settings(max_examples=15)
@given(content=st.data())
def test_every_event_comes_back_as_it_was_said(name: str, content: st.DataObject):
    cls = EVENTS[name]
    event = content.draw(values_of(msgspec.inspect.type_info(cls)))
    for role in sorted(cls.SPOKEN.roles):
        history = History(min(cls.SPOKEN.kinds), "abc")
        said = saying(event, role, at=content.draw(TIMES))
        body = codec.encode(Utterance(history=history, role=role, said=(said, said)))
        entry = decode(body, event_subject(history, role))
        assert entry == Entry(history=history, role=role, sequence=7, stored_at=AT, said=(said, said))


def test_the_bytes_are_cloudevents_with_our_circumstances():
    (written,) = msgspec.json.decode(
        codec.encode(Utterance(history=HISTORY, role="submitter", said=(saying(INTENT, "submitter"),)))
    )
    assert {key: value for key, value in written.items() if key != "data"} == {
        "specversion": "1.0",
        "id": "i-1",
        "source": "gonogo/submitter/i",
        "type": "gonogo.SubmissionIntended",
        "subject": "launch/abc",
        "time": "2026-03-01T12:00:00.123456Z",
        "recordedtime": "2026-03-01T12:00:00.123456Z",
        "correlationid": "abc",
        "causationid": "i-0",
        "trigger": "due",
        "traceparent": trace_parent(HISTORY, "i-1"),
        "dataschema": dataschema_of(type(INTENT)),
        "datacontenttype": "application/json",
    }
    assert written["data"]["terms"]["create_timeout_s"] == INTENT.terms.create_timeout_s


def test_what_a_newer_writer_added_to_the_envelope_is_passed_over():
    body = codec.encode(remark(HISTORY)).replace(b'"specversion"', b'"tracestate":"x","specversion"')
    assert isinstance(decode(body), Entry)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b'"cause"', b'"because"', "cause"),
        (b'"why not"', b"7", "gonogo.SubmissionUnresolved .*`str`"),
        (b'{"cause":"why not"}', b'{"cause":"why not","more":1}', "unknown field `more`"),
        (b'"trigger":"woken"', b'"trigger":"bored"', "bored"),
        (b'"time"', b'"thyme"', "time"),
        (b"[{", b"{", "malformed|array"),
        (b"2026-03-01T", b"yesterday", "datetime"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_what_breaks_the_contract_is_unreadable_and_the_reason_names_it(old: bytes, new: bytes, told: str):
    body = codec.encode(remark(HISTORY))
    assert old in body
    assert re.search(told, reason(body.replace(old, new)))


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b"[null]"])
def test_no_bytes_whatever_make_the_codec_raise(body: bytes):
    assert reason(body)


@given(st.binary(max_size=200))
def test_random_bytes_are_unreadable_and_no_more(body: bytes):
    assert reason(body)


@pytest.mark.parametrize(
    "subject",
    ["ev.launch.abc", "ev.launch.abc.nobody", "ev.shoe.abc.submitter", "in.ana.launch", "ev.launch..submitter", "x"],
)
def test_a_subject_that_is_not_ours_is_unreadable_and_named(subject: str):
    assert subject in reason(codec.encode(remark(HISTORY)), subject)


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_refused_from_every_role_and_in_every_history_that_is_not_its_own(name: str):
    cls, event = EVENTS[name], examples()[name]
    for role in ROLES:
        for kind in HISTORY_KINDS:
            if role in cls.SPOKEN.roles and kind in cls.SPOKEN.kinds:
                continue
            utterance = Utterance(history=History(kind, "abc"), role=role, said=(saying(event, role),))
            with pytest.raises(UnreadableEventError, match=f"{name} (may not be said by|does not belong in)"):
                codec.encode(utterance)


def test_an_event_that_is_not_in_the_catalogue_is_not_written():
    class Surprised(Event, frozen=True, kw_only=True):
        SPOKEN = SubmissionUnresolved.SPOKEN

    with pytest.raises(UnreadableEventError, match="Surprised is not in the catalogue"):
        codec.encode(utter(HISTORY, Surprised()))


def test_a_known_secret_is_masked_before_it_is_written_wherever_it_stands():
    body = codec.encode(utter(HISTORY, SubmissionUnresolved(cause=f"curl -H {TOKEN} failed"), INTENT))
    assert TOKEN.encode() not in body
    entry = decode(body)
    assert isinstance(entry, Entry)
    event = entry.said[0].event
    assert isinstance(event, SubmissionUnresolved)
    assert event.cause.startswith("curl -H ")
    assert "[secret]" in event.cause
    assert entry.said[1].event == INTENT


def test_a_value_that_is_a_secret_only_by_the_name_in_front_of_it_is_masked_too():
    facts = {"DB_PASSWORD": "hunter2-long", "nodes": "4", "note": f"with {TOKEN}", "API_KEY": "env:API_KEY"}
    body = codec.encode(utter(HISTORY, SubmissionVerified(job=OUTCOME.job, facts=facts)))
    entry = decode(body)
    assert isinstance(entry, Entry)
    event = entry.said[0].event
    assert isinstance(event, SubmissionVerified)
    assert event.facts == {**facts, "DB_PASSWORD": "[secret]", "note": "with [secret]"}
    assert not known_secret(body.decode())


def test_a_message_is_refused_from_the_first_byte_that_is_too_much():
    def of_length(length: int) -> bytes:
        event = SubmissionUnresolved(cause="x" * length)
        return codec.encode(Utterance(history=HISTORY, role="submitter", said=(saying(event, "submitter"),)))

    room = codec.UTTERANCE_BYTES_MAX - len(of_length(0))
    assert len(of_length(room)) == codec.UTTERANCE_BYTES_MAX
    with pytest.raises(UnreadableEventError, match="launch/abc: 262145 bytes in one message, at most 262144"):
        of_length(room + 1)


def test_an_unknown_event_that_was_read_is_not_written_again_as_something_known():
    body = codec.encode(remark(HISTORY)).replace(b"SubmissionUnresolved", b"SubmissionBlessed")
    entry = decode(body)
    assert isinstance(entry, Entry)
    event = entry.said[0].event
    assert event == UnknownEvent(
        type="gonogo.SubmissionBlessed", dataschema="urn:gonogo:SubmissionBlessed:1", raw='{"cause":"why not"}'
    )
    again = decode(codec.encode(Utterance(history=HISTORY, role="submitter", said=entry.said)))
    assert isinstance(again, Entry)
    assert isinstance(again.said[0].event, UnknownEvent)
