from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_10_event import TurnEventType10Event

if TYPE_CHECKING:
    from ..models.cause_ref import CauseRef


T = TypeVar("T", bound="TurnEventType10")


@_attrs_define
class TurnEventType10:
    """A queued message leaves the queue: agents are asked about it now.

    Attributes:
        cause (CauseRef): A reference to the event that caused something.
        event (TurnEventType10Event):
    """

    cause: CauseRef
    event: TurnEventType10Event
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cause = self.cause.to_dict()

        event = self.event.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cause": cause,
                "event": event,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cause_ref import CauseRef  # noqa: PLC0415

        d = dict(src_dict)
        cause = CauseRef.from_dict(d.pop("cause"))

        event = TurnEventType10Event(d.pop("event"))

        turn_event_type_10 = cls(
            cause=cause,
            event=event,
        )

        turn_event_type_10.additional_properties = d
        return turn_event_type_10

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
