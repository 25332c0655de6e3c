from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="UpcomingEntry")


@_attrs_define
class UpcomingEntry:
    """An agent still to be asked.

    Attributes:
        forced (bool): True if the agent must answer, false if it may.
        participant (str): Id of the agent.
    """

    forced: bool
    participant: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        forced = self.forced

        participant = self.participant

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "forced": forced,
                "participant": participant,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        forced = d.pop("forced")

        participant = d.pop("participant")

        upcoming_entry = cls(
            forced=forced,
            participant=participant,
        )

        upcoming_entry.additional_properties = d
        return upcoming_entry

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
