from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.gathering_step_type_2_event import GatheringStepType2Event

T = TypeVar("T", bound="GatheringStepType2")


@_attrs_define
class GatheringStepType2:
    """A participant got the piece.

    Attributes:
        event (GatheringStepType2Event):
        holder (str): Id of the new holder.
        note (None | str): Reason why the named participant did not get the piece; `null` if it did.
    """

    event: GatheringStepType2Event
    holder: str
    note: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        holder = self.holder

        note: None | str
        note = self.note

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "holder": holder,
                "note": note,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event = GatheringStepType2Event(d.pop("event"))

        holder = d.pop("holder")

        def _parse_note(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        note = _parse_note(d.pop("note"))

        gathering_step_type_2 = cls(
            event=event,
            holder=holder,
            note=note,
        )

        gathering_step_type_2.additional_properties = d
        return gathering_step_type_2

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
