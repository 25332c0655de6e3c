from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.gathering_step_type_5_event import GatheringStepType5Event

T = TypeVar("T", bound="GatheringStepType5")


@_attrs_define
class GatheringStepType5:
    """The holder released the piece.

    Attributes:
        because (str): Reason: `passed`, `last_word`, `grace` (no last word came in time), `gone` (the holder
            is no longer there), or `stopped` (a person stopped or ended the gathering, or too few
            speakers are left).
        event (GatheringStepType5Event):
        holder (str): Id of the former holder.
        next_ (None | str): Id of the participant that was named as the next holder and can be; otherwise `null`.
        note (None | str): Explanation, if the named participant cannot be the next holder; otherwise `null`.
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
