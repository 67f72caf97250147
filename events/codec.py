"""Bytes ⇄ log entries: a JSON array of CloudEvents 1.0, one array per decision.

The codec refuses an event that its role may not say or that does not belong in that kind of history, on write *and* on
read. An unknown type or version is kept verbatim. Known secret formats are masked here, at the event boundary, so that no
reader further on has to.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

import msgspec

from gonogo.events.base import Event, Role, UnknownEvent
from gonogo.events.catalogue import EVENTS, dataschema_of
from gonogo.events.envelope import Entry, Said, TriggerWord, Unreadable, Utterance
from gonogo.events.ids import History, trace_parent
from gonogo.events.log import UnreadableEventError
from gonogo.events.redaction import MASK, known_secret, mask_secrets
from gonogo.events.subjects import SubjectError, parse_event_subject

TYPE_PREFIX = "gonogo."
UTTERANCE_BYTES_MAX = 256 * 1024
"""What one message may hold; the stream refuses more."""


class _WrittenEvent(msgspec.Struct, frozen=True, kw_only=True):
    specversion: str
    id: str
    source: str
    type: str
    subject: str
    time: datetime
    recordedtime: datetime
    correlationid: str
    causationid: str
    trigger: str
    traceparent: str
    dataschema: str
    data: Any
    datacontenttype: str = "application/json"


class _ReadEvent(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    source: str
    type: str
    time: datetime
    recordedtime: datetime
    causationid: str
    trigger: TriggerWord
    dataschema: str
    data: msgspec.Raw


_READ_ENVELOPES = msgspec.json.Decoder(list[_ReadEvent])
_READ_DATA = {(TYPE_PREFIX + name, dataschema_of(cls)): msgspec.json.Decoder(cls) for name, cls in EVENTS.items()}
_WRITE = msgspec.json.Encoder()


def encode(utterance: Utterance) -> bytes:
    """Turn an utterance into the bytes that are stored. Raises UnreadableEventError for what no reader would take."""
    for said in utterance.said:
        _demand_allowed(said.event, utterance.history, utterance.role)
    body = _WRITE.encode([_written(said, utterance) for said in utterance.said])
    if known_secret(body.decode()):
        body = _WRITE.encode(_masked(msgspec.json.decode(body)))
    if len(body) > UTTERANCE_BYTES_MAX:
        message = (
            f"{utterance.history}: {len(body)} bytes in one message, at most {UTTERANCE_BYTES_MAX}: shorten its texts"
        )
        raise UnreadableEventError(message)
    return body


def decode(subject: str, body: bytes, *, sequence: int, stored_at: datetime) -> Entry | Unreadable:
    """Turn stored bytes into an entry, or say what about them breaks the contract."""
    history = None
    try:
        history, role = parse_event_subject(subject)
        read = _READ_ENVELOPES.decode(body)
        if not read:
            return Unreadable(history=history, subject=subject, sequence=sequence, reason="an empty message")
        said = tuple(_said(item, history, role, sequence, stored_at) for item in read)
    except (msgspec.MsgspecError, SubjectError, UnreadableEventError) as error:
        return Unreadable(history=history, subject=subject, sequence=sequence, reason=str(error))
    return Entry(history=history, role=role, sequence=sequence, stored_at=stored_at, said=said)


def _demand_allowed(event: Event, history: History, role: Role) -> None:
    name = type(event).__name__
    if history.kind not in event.SPOKEN.kinds:
        message = f"{name} does not belong in a {history.kind} history ({history})"
        raise UnreadableEventError(message)
    if role not in event.SPOKEN.roles:
        message = f"{name} may not be said by {role} ({history})"
        raise UnreadableEventError(message)
    if isinstance(event, UnknownEvent):
        return
    if EVENTS.get(name) is not type(event):
        message = f"{name} is not in the catalogue"
        raise UnreadableEventError(message)


def _written(said: Said, utterance: Utterance) -> _WrittenEvent:
    name = type(said.event).__name__
    return _WrittenEvent(
        specversion="1.0",
        id=said.id,
        source=f"gonogo/{said.role}/{said.instance}",
        type=TYPE_PREFIX + name,
        subject=str(utterance.history),
        time=said.observed_at,
        recordedtime=said.recorded_at,
        correlationid=utterance.history.id,
        causationid=said.caused_by,
        trigger=said.trigger,
        traceparent=trace_parent(utterance.history, said.id),
        dataschema=dataschema_of(type(said.event)),
        data=said.event,
    )


def _said(item: _ReadEvent, history: History, role: Role, sequence: int, stored_at: datetime) -> Said:
    decoder = _READ_DATA.get((item.type, item.dataschema))
    event: Event
    if decoder is None:
        event = UnknownEvent(type=item.type, dataschema=item.dataschema, raw=bytes(item.data).decode())
    else:
        try:
            event = decoder.decode(item.data)
        except msgspec.ValidationError as error:
            message = f"{item.type} {item.id}: {error}"
            raise UnreadableEventError(message) from error
        _demand_allowed(event, history, role)
    return Said(
        id=item.id,
        event=event,
        role=role,
        instance=item.source.rpartition("/")[2],
        observed_at=item.time,
        recorded_at=item.recordedtime,
        stored_at=stored_at,
        sequence=sequence,
        caused_by=item.causationid,
        trigger=item.trigger,
    )


def _masked(value: Any) -> Any:
    match value:
        case str():
            return mask_secrets(value)
        case list():
            return list(map(_masked, cast("list[Any]", value)))
        case dict():
            return {mask_secrets(k): _masked_as(k, v) for k, v in cast("dict[str, Any]", value).items()}
        case _:
            return value


def _masked_as(name: str, value: Any) -> Any:
    """A value may be a secret only by the name in front of it: `{"DB_PASSWORD": "…"}`."""
    masked = _masked(value)
    return MASK if isinstance(masked, str) and known_secret(f"{name}: {masked}") else masked
