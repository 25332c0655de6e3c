from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.gathering_step_type_9_event import GatheringStepType9Event

T = TypeVar("T", bound="GatheringStepType9")


@_attrs_define
class GatheringStepType9:
    """The holder passed the piece, which moves on when the holder's turn ends.

    Attributes:
        event (GatheringStepType9Event):
        holder (str): Id of the holder.
        to (None | str): Name given by the holder; `null` for the next in order.
    """

    event: GatheringStepType9Event
    holder: str
    to: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        holder = self.holder

        to: None | str
        to = self.to

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "holder": holder,
                "to": to,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event = GatheringStepType9Event(d.pop("event"))

        holder = d.pop("holder")

        def _parse_to(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        to = _parse_to(d.pop("to"))

        gathering_step_type_9 = cls(
            event=event,
            holder=holder,
            to=to,
        )

        gathering_step_type_9.additional_properties = d
        return gathering_step_type_9

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
