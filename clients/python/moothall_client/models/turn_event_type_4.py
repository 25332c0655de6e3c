from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_4_event import TurnEventType4Event

T = TypeVar("T", bound="TurnEventType4")


@_attrs_define
class TurnEventType4:
    """A restart lost an attempt at the turn. The turn will be run again.

    Attributes:
        attempt (int): Number of the lost attempt.
        event (TurnEventType4Event):
        turn (str): Id of the turn: `<thread>.<number>`.
    """

    attempt: int
    event: TurnEventType4Event
    turn: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attempt = self.attempt

        event = self.event.value

        turn = self.turn

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempt": attempt,
                "event": event,
                "turn": turn,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        attempt = d.pop("attempt")

        event = TurnEventType4Event(d.pop("event"))

        turn = d.pop("turn")

        turn_event_type_4 = cls(
            attempt=attempt,
            event=event,
            turn=turn,
        )

        turn_event_type_4.additional_properties = d
        return turn_event_type_4

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
