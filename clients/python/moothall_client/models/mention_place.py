from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="MentionPlace")


@_attrs_define
class MentionPlace:
    """A place in a message that names participants.

    Attributes:
        end (int): Position of the end of the name, in UTF-16 code units from the beginning of the message.
        participants (list[str]): Ids of the named participants: one, or all that have a role, a client or a model of
            that
            name.
        start (int): Position of the `@`, in UTF-16 code units from the beginning of the message.
    """

    end: int
    participants: list[str]
    start: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        end = self.end

        participants = self.participants

        start = self.start

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "end": end,
                "participants": participants,
                "start": start,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        end = d.pop("end")

        participants = cast(list[str], d.pop("participants"))

        start = d.pop("start")

        mention_place = cls(
            end=end,
            participants=participants,
            start=start,
        )

        mention_place.additional_properties = d
        return mention_place

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
