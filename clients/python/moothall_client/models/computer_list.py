from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.computer_entry import ComputerEntry
    from ..models.post_entry import PostEntry


T = TypeVar("T", bound="ComputerList")


@_attrs_define
class ComputerList:
    """Answer of `GET /computers`.

    Attributes:
        computers (list[ComputerEntry]): This computer first, then those that are paired with it, in the order of their
            names. Empty
            until an invitation is made or accepted here.
        post (None | PostEntry | Unset):
    """

    computers: list[ComputerEntry]
    post: None | PostEntry | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.post_entry import PostEntry  # noqa: PLC0415

        computers = []
        for computers_item_data in self.computers:
            computers_item = computers_item_data.to_dict()
            computers.append(computers_item)

        post: dict[str, Any] | None | Unset
        if isinstance(self.post, Unset):
            post = UNSET
        elif isinstance(self.post, PostEntry):
            post = self.post.to_dict()
        else:
            post = self.post

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "computers": computers,
            }
        )
        if post is not UNSET:
            field_dict["post"] = post

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.computer_entry import ComputerEntry  # noqa: PLC0415
        from ..models.post_entry import PostEntry  # noqa: PLC0415

        d = dict(src_dict)
        computers = []
        _computers = d.pop("computers")
        for computers_item_data in _computers:
            computers_item = ComputerEntry.from_dict(computers_item_data)

            computers.append(computers_item)

        def _parse_post(data: object) -> None | PostEntry | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                post_type_0 = PostEntry.from_dict(data)

                return post_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PostEntry | Unset, data)

        post = _parse_post(d.pop("post", UNSET))

        computer_list = cls(
            computers=computers,
            post=post,
        )

        computer_list.additional_properties = d
        return computer_list

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
