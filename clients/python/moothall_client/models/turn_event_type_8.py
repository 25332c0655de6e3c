from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_8_event import TurnEventType8Event
from ..types import UNSET, Unset

T = TypeVar("T", bound="TurnEventType8")


@_attrs_define
class TurnEventType8:
    """Refused messages were only counted, because too many of the participant's were kept already.

    Attributes:
        bytes_ (int): Total size of the messages in bytes.
        count (int): Number of the messages.
        event (TurnEventType8Event):
        participant (str): Id of the participant that wrote the messages.
        until (None | str | Unset): Time until which further messages are only counted; absent when that period has
            ended.
    """

    bytes_: int
    count: int
    event: TurnEventType8Event
    participant: str
    until: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bytes_ = self.bytes_

        count = self.count

        event = self.event.value

        participant = self.participant

        until: None | str | Unset
        if isinstance(self.until, Unset):
            until = UNSET
        else:
            until = self.until

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bytes": bytes_,
                "count": count,
                "event": event,
                "participant": participant,
            }
        )
        if until is not UNSET:
            field_dict["until"] = until

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        bytes_ = d.pop("bytes")

        count = d.pop("count")

        event = TurnEventType8Event(d.pop("event"))

        participant = d.pop("participant")

        def _parse_until(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        until = _parse_until(d.pop("until", UNSET))

        turn_event_type_8 = cls(
            bytes_=bytes_,
            count=count,
            event=event,
            participant=participant,
            until=until,
        )

        turn_event_type_8.additional_properties = d
        return turn_event_type_8

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
