from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.gathering_step_type_8_event import GatheringStepType8Event

T = TypeVar("T", bound="GatheringStepType8")


@_attrs_define
class GatheringStepType8:
    """The gathering was closed.

    Attributes:
        because (str): Reason: `done`, `too_few` or `ended`.
        event (GatheringStepType8Event):
    """

    because: str
    event: GatheringStepType8Event
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        because = self.because

        event = self.event.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "because": because,
                "event": event,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        because = d.pop("because")

        event = GatheringStepType8Event(d.pop("event"))

        gathering_step_type_8 = cls(
            because=because,
            event=event,
        )

        gathering_step_type_8.additional_properties = d
        return gathering_step_type_8

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
