from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.gathering_step_type_5_event import GatheringStepType5Event

T = TypeVar("T", bound="GatheringStepType5")


@_attrs_define
class GatheringStepType5:
    """The holder let go of the piece.

    Attributes:
        because (str): `passed`, `last_word`, `grace` (nothing came in the time for it), `gone` (the holder is
            not there any more), or `stopped` (a person stopped or ended it, or too few are left).
        event (GatheringStepType5Event):
        holder (str): The id of whoever had it.
        next_ (None | str): The id of whoever was named as the next and can be.
        note (None | str): What there is to say about a name that cannot.
    """

    because: str
    event: GatheringStepType5Event
    holder: str
    next_: None | str
    note: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        because = self.because

        event = self.event.value

        holder = self.holder

        next_: None | str
        next_ = self.next_

        note: None | str
        note = self.note

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "because": because,
                "event": event,
                "holder": holder,
                "next": next_,
                "note": note,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        because = d.pop("because")

        event = GatheringStepType5Event(d.pop("event"))

        holder = d.pop("holder")

        def _parse_next_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_ = _parse_next_(d.pop("next"))

        def _parse_note(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        note = _parse_note(d.pop("note"))

        gathering_step_type_5 = cls(
            because=because,
            event=event,
            holder=holder,
            next_=next_,
            note=note,
        )

        gathering_step_type_5.additional_properties = d
        return gathering_step_type_5

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
