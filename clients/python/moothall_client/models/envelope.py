from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.meta import Meta


T = TypeVar("T", bound="Envelope")


@_attrs_define
class Envelope:
    """An event as clients see it. Order comes from `seq` alone.

    Attributes:
        content (Any): Text for messages and names, an object for most other types. A control's object has a key
            for each change. If several participants were invited at once, `invite` is the first of them
            and `invites` the list of all.
        from_ (str): Id of the participant that the event comes from; `moothall` is the server itself. For an
            `observation`, the account that wrote.
        id (str): Id of the event: a UUID of version 7.
        seq (int): Position of the event in its thread, from 1.
        thread (str): Id of the event's thread.
        to (str): Addressee: `all`, or a participant's id. An addressee never hides an event from other
            readers.
        ts (str): Time at which the event was appended: RFC 3339, UTC, milliseconds. Rises strictly within a
            thread.
        type_ (str): Type of the event: `message`, `control`, `notice`, `turn`, `permission`, `gathering`,
            `thread.created`, `thread.renamed`, `thread.archived`, `thread.unarchived`,
            `thread.deleted`, `observation` (words of a person who does not take part, from a chat), or
            a client's own word.
        meta (Meta | Unset): Facts about an event beside its content.
    """

    content: Any
    from_: str
    id: str
    seq: int
    thread: str
    to: str
    ts: str
    type_: str
    meta: Meta | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        content = self.content

        from_ = self.from_

        id = self.id

        seq = self.seq

        thread = self.thread

        to = self.to

        ts = self.ts

        type_ = self.type_

        meta: dict[str, Any] | Unset = UNSET
        if not isinstance(self.meta, Unset):
            meta = self.meta.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "content": content,
                "from": from_,
                "id": id,
                "seq": seq,
                "thread": thread,
                "to": to,
                "ts": ts,
                "type": type_,
            }
        )
        if meta is not UNSET:
            field_dict["meta"] = meta

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.meta import Meta  # noqa: PLC0415

        d = dict(src_dict)
        content = d.pop("content")

        from_ = d.pop("from")

        id = d.pop("id")

        seq = d.pop("seq")

        thread = d.pop("thread")

        to = d.pop("to")

        ts = d.pop("ts")

        type_ = d.pop("type")

        _meta = d.pop("meta", UNSET)
        meta: Meta | Unset
        if isinstance(_meta, Unset):
            meta = UNSET
        else:
            meta = Meta.from_dict(_meta)

        envelope = cls(
            content=content,
            from_=from_,
            id=id,
            seq=seq,
            thread=thread,
            to=to,
            ts=ts,
            type_=type_,
            meta=meta,
        )

        envelope.additional_properties = d
        return envelope

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
