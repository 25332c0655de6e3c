from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.gathering_answer import GatheringAnswer


T = TypeVar("T", bound="GatheringList")


@_attrs_define
class GatheringList:
    """Answer of `GET /gatherings`.

    Attributes:
        gatherings (list[GatheringAnswer]): The newest 100 gatherings, newest first.
    """

    gatherings: list[GatheringAnswer]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        gatherings = []
        for gatherings_item_data in self.gatherings:
            gatherings_item = gatherings_item_data.to_dict()
            gatherings.append(gatherings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "gatherings": gatherings,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.gathering_answer import GatheringAnswer  # noqa: PLC0415

        d = dict(src_dict)
        gatherings = []
        _gatherings = d.pop("gatherings")
        for gatherings_item_data in _gatherings:
            gatherings_item = GatheringAnswer.from_dict(gatherings_item_data)

            gatherings.append(gatherings_item)

        gathering_list = cls(
            gatherings=gatherings,
        )

        gathering_list.additional_properties = d
        return gathering_list

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
