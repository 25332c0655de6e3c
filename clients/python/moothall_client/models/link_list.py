from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.link_entry import LinkEntry


T = TypeVar("T", bound="LinkList")


@_attrs_define
class LinkList:
    """Answer of `GET /links`.

    Attributes:
        links (list[LinkEntry]): The active links.
        waiting (list[LinkEntry] | Unset): Closed links that open again when the sessions in `waits_for` are resumed or
            ended.
    """

    links: list[LinkEntry]
    waiting: list[LinkEntry] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        links = []
        for links_item_data in self.links:
            links_item = links_item_data.to_dict()
            links.append(links_item)

        waiting: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.waiting, Unset):
            waiting = []
            for waiting_item_data in self.waiting:
                waiting_item = waiting_item_data.to_dict()
                waiting.append(waiting_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "links": links,
            }
        )
        if waiting is not UNSET:
            field_dict["waiting"] = waiting

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.link_entry import LinkEntry  # noqa: PLC0415

        d = dict(src_dict)
        links = []
        _links = d.pop("links")
        for links_item_data in _links:
            links_item = LinkEntry.from_dict(links_item_data)

            links.append(links_item)

        _waiting = d.pop("waiting", UNSET)
        waiting: list[LinkEntry] | Unset = UNSET
        if _waiting is not UNSET:
            waiting = []
            for waiting_item_data in _waiting:
                waiting_item = LinkEntry.from_dict(waiting_item_data)

                waiting.append(waiting_item)

        link_list = cls(
            links=links,
            waiting=waiting,
        )

        link_list.additional_properties = d
        return link_list

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
