from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_15_event import TurnEventType15Event

T = TypeVar("T", bound="TurnEventType15")


@_attrs_define
class TurnEventType15:
    """The registry's facts about a participant's client changed.

    Attributes:
        event (TurnEventType15Event):
        known (bool): True if the registry has the client now.
        participant (str): Id of the participant.
        runtime (str): Runtime of the client now.
    """

    event: TurnEventType15Event
    known: bool
    participant: str
    runtime: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        known = self.known

        participant = self.participant

        runtime = self.runtime

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "known": known,
                "participant": participant,
                "runtime": runtime,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event = TurnEventType15Event(d.pop("event"))

        known = d.pop("known")

        participant = d.pop("participant")

        runtime = d.pop("runtime")

        turn_event_type_15 = cls(
            event=event,
            known=known,
            participant=participant,
            runtime=runtime,
        )

        turn_event_type_15.additional_properties = d
        return turn_event_type_15

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
