from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.pairing_entry import PairingEntry


T = TypeVar("T", bound="PairingList")


@_attrs_define
class PairingList:
    """Answer of `GET /pairings`.

    Attributes:
        pairings (list[PairingEntry]): The paired accounts, the oldest first.
    """

    pairings: list[PairingEntry]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        pairings = []
        for pairings_item_data in self.pairings:
            pairings_item = pairings_item_data.to_dict()
            pairings.append(pairings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "pairings": pairings,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pairing_entry import PairingEntry  # noqa: PLC0415

        d = dict(src_dict)
        pairings = []
        _pairings = d.pop("pairings")
        for pairings_item_data in _pairings:
            pairings_item = PairingEntry.from_dict(pairings_item_data)

            pairings.append(pairings_item)

        pairing_list = cls(
            pairings=pairings,
        )

        pairing_list.additional_properties = d
        return pairing_list

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
