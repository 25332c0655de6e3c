from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_3_event import TurnEventType3Event

T = TypeVar("T", bound="TurnEventType3")


@_attrs_define
class TurnEventType3:
    """The runtime accepted the turn.

    Attributes:
        attempt (int): Number of the attempt, from 1.
        deadline (str): Time at which the turn ends without an answer.
        event (TurnEventType3Event):
        from_seq (int): Position after which the turn's events begin, exclusive.
        through_seq (int): Position with which the turn's events end, inclusive.
        turn (str): Id of the turn: `<thread>.<number>`.
    """

    attempt: int
    deadline: str
    event: TurnEventType3Event
    from_seq: int
    through_seq: int
    turn: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attempt = self.attempt

        deadline = self.deadline

        event = self.event.value

        from_seq = self.from_seq

        through_seq = self.through_seq

        turn = self.turn

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempt": attempt,
                "deadline": deadline,
                "event": event,
                "from_seq": from_seq,
                "through_seq": through_seq,
                "turn": turn,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        attempt = d.pop("attempt")

        deadline = d.pop("deadline")

        event = TurnEventType3Event(d.pop("event"))

        from_seq = d.pop("from_seq")

        through_seq = d.pop("through_seq")

        turn = d.pop("turn")

        turn_event_type_3 = cls(
            attempt=attempt,
            deadline=deadline,
            event=event,
            from_seq=from_seq,
            through_seq=through_seq,
            turn=turn,
        )

        turn_event_type_3.additional_properties = d
        return turn_event_type_3

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
