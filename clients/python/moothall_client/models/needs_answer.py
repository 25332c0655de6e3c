from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.need_entry import NeedEntry


T = TypeVar("T", bound="NeedsAnswer")


@_attrs_define
class NeedsAnswer:
    """Answer of `GET /needs`.

    Attributes:
        needs (list[NeedEntry]): Entries that wait for the reader, oldest first.
    """

    needs: list[NeedEntry]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        needs = []
        for needs_item_data in self.needs:
            needs_item = needs_item_data.to_dict()
            needs.append(needs_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "needs": needs,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.need_entry import NeedEntry  # noqa: PLC0415

        d = dict(src_dict)
        needs = []
        _needs = d.pop("needs")
        for needs_item_data in _needs:
            needs_item = NeedEntry.from_dict(needs_item_data)

            needs.append(needs_item)

        needs_answer = cls(
            needs=needs,
        )

        needs_answer.additional_properties = d
        return needs_answer

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
