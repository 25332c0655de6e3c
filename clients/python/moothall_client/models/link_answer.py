from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.link_entry import LinkEntry


T = TypeVar("T", bound="LinkAnswer")


@_attrs_define
class LinkAnswer:
    """Answer of `POST /links` and `POST /links/{id}/close`.

    Attributes:
        link (LinkEntry): A link: a thread under `open` whose members are sessions.
        link_state (str): `created`; `reused` if these members had a link already; or `closed`.
    """

    link: LinkEntry
    link_state: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        link = self.link.to_dict()

        link_state = self.link_state

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "link": link,
                "link_state": link_state,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.link_entry import LinkEntry  # noqa: PLC0415

        d = dict(src_dict)
        link = LinkEntry.from_dict(d.pop("link"))

        link_state = d.pop("link_state")

        link_answer = cls(
            link=link,
            link_state=link_state,
        )

        link_answer.additional_properties = d
        return link_answer

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
