from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.gathering_step_type_7_event import GatheringStepType7Event

T = TypeVar("T", bound="GatheringStepType7")


@_attrs_define
class GatheringStepType7:
    """The harvest was written.

    Attributes:
        event (GatheringStepType7Event):
        harvester (str): Id of the harvester.
        message (str): Id of the message with the harvest.
    """

    event: GatheringStepType7Event
    harvester: str
    message: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        harvester = self.harvester

        message = self.message

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "harvester": harvester,
                "message": message,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event = GatheringStepType7Event(d.pop("event"))

        harvester = d.pop("harvester")

        message = d.pop("message")

        gathering_step_type_7 = cls(
            event=event,
            harvester=harvester,
            message=message,
        )

        gathering_step_type_7.additional_properties = d
        return gathering_step_type_7

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
