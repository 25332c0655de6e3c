from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.gathering_step_type_3_event import GatheringStepType3Event

T = TypeVar("T", bound="GatheringStepType3")


@_attrs_define
class GatheringStepType3:
    """A beat of the hold passed.

    Attributes:
        event (GatheringStepType3Event):
        number (int): Number of the beat in this hold, from 1.
    """

    event: GatheringStepType3Event
    number: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        number = self.number

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "number": number,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event = GatheringStepType3Event(d.pop("event"))

        number = d.pop("number")

        gathering_step_type_3 = cls(
            event=event,
            number=number,
        )

        gathering_step_type_3.additional_properties = d
        return gathering_step_type_3

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
