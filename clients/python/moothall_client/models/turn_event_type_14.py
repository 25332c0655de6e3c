from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_14_event import TurnEventType14Event

if TYPE_CHECKING:
    from ..models.cause_ref import CauseRef


T = TypeVar("T", bound="TurnEventType14")


@_attrs_define
class TurnEventType14:
    """The round reopened for a late answer: agents that have not reacted to the message may react.

    Attributes:
        cause (CauseRef): A reference to the event that caused something.
        event (TurnEventType14Event):
        reply (int): Position of the late answer.
    """

    cause: CauseRef
    event: TurnEventType14Event
    reply: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cause = self.cause.to_dict()

        event = self.event.value

        reply = self.reply

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cause": cause,
                "event": event,
                "reply": reply,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cause_ref import CauseRef  # noqa: PLC0415

        d = dict(src_dict)
        cause = CauseRef.from_dict(d.pop("cause"))

        event = TurnEventType14Event(d.pop("event"))

        reply = d.pop("reply")

        turn_event_type_14 = cls(
            cause=cause,
            event=event,
            reply=reply,
        )

        turn_event_type_14.additional_properties = d
        return turn_event_type_14

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
