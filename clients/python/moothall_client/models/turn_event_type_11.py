from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_11_event import TurnEventType11Event

if TYPE_CHECKING:
    from ..models.cause_ref import CauseRef


T = TypeVar("T", bound="TurnEventType11")


@_attrs_define
class TurnEventType11:
    """A round began: agents answer a human message.

    Attributes:
        cap (int): Maximum number of visible replies to the message.
        cause (CauseRef): A reference to the event that caused something.
        event (TurnEventType11Event):
        forced (list[str]): Ids of the agents that must answer, in order.
        polled (list[str]): Ids of the agents that may answer, in order.
    """

    cap: int
    cause: CauseRef
    event: TurnEventType11Event
    forced: list[str]
    polled: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cap = self.cap

        cause = self.cause.to_dict()

        event = self.event.value

        forced = self.forced

        polled = self.polled

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cap": cap,
                "cause": cause,
                "event": event,
                "forced": forced,
                "polled": polled,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cause_ref import CauseRef  # noqa: PLC0415

        d = dict(src_dict)
        cap = d.pop("cap")

        cause = CauseRef.from_dict(d.pop("cause"))

        event = TurnEventType11Event(d.pop("event"))

        forced = cast(list[str], d.pop("forced"))

        polled = cast(list[str], d.pop("polled"))

        turn_event_type_11 = cls(
            cap=cap,
            cause=cause,
            event=event,
            forced=forced,
            polled=polled,
        )

        turn_event_type_11.additional_properties = d
        return turn_event_type_11

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
