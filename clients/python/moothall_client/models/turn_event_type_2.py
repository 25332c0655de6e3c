from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_2_event import TurnEventType2Event

T = TypeVar("T", bound="TurnEventType2")


@_attrs_define
class TurnEventType2:
    """The floor no longer waits for the turn. The turn keeps running, and its answer is shown when
    it comes.

        Attributes:
            event (TurnEventType2Event):
            turn (str): Id of the turn: `<thread>.<number>`.
    """

    event: TurnEventType2Event
    turn: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        turn = self.turn

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "turn": turn,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event = TurnEventType2Event(d.pop("event"))

        turn = d.pop("turn")

        turn_event_type_2 = cls(
            event=event,
            turn=turn,
        )

        turn_event_type_2.additional_properties = d
        return turn_event_type_2

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
