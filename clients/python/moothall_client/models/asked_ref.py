from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AskedRef")


@_attrs_define
class AskedRef:
    """A permission outside of a turn, which waits for a person.

    Attributes:
        participant (str): Id of the asking participant.
        permission (str): Id of the permission.
        seq (int): Position of the asking event.
    """

    participant: str
    permission: str
    seq: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        participant = self.participant

        permission = self.permission

        seq = self.seq

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "participant": participant,
                "permission": permission,
                "seq": seq,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        participant = d.pop("participant")

        permission = d.pop("permission")

        seq = d.pop("seq")

        asked_ref = cls(
            participant=participant,
            permission=permission,
            seq=seq,
        )

        asked_ref.additional_properties = d
        return asked_ref

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
