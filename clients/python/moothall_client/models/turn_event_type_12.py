from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_12_event import TurnEventType12Event

T = TypeVar("T", bound="TurnEventType12")


@_attrs_define
class TurnEventType12:
    """Agents may react to each other, once.

    Attributes:
        event (TurnEventType12Event):
        forced (list[str]): Ids of the agents that must react, in order.
        polled (list[str]): Ids of the agents that may react, in order.
    """

    event: TurnEventType12Event
    forced: list[str]
    polled: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        forced = self.forced

        polled = self.polled

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "forced": forced,
                "polled": polled,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event = TurnEventType12Event(d.pop("event"))

        forced = cast(list[str], d.pop("forced"))

        polled = cast(list[str], d.pop("polled"))

        turn_event_type_12 = cls(
            event=event,
            forced=forced,
            polled=polled,
        )

        turn_event_type_12.additional_properties = d
        return turn_event_type_12

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
