from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.link_member import LinkMember


T = TypeVar("T", bound="LinkEntry")


@_attrs_define
class LinkEntry:
    """A link: a thread under `open` whose members are sessions.

    Attributes:
        active (bool): True if the link delivers messages between its members.
        created_at (str): Time at which the link was created.
        id (str): Id of the link, equal to that of its thread.
        members (list[LinkMember]): Members of the link; the last ones for a closed link.
        title (str): Title of the link's thread.
        waits_for (list[str] | Unset): Ended sessions that keep the link closed: they ended with the computer, or as the
            last of
            the link. Resume them or end them.
    """

    active: bool
    created_at: str
    id: str
    members: list[LinkMember]
    title: str
    waits_for: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        active = self.active

        created_at = self.created_at

        id = self.id

        members = []
        for members_item_data in self.members:
            members_item = members_item_data.to_dict()
            members.append(members_item)

        title = self.title

        waits_for: list[str] | Unset = UNSET
        if not isinstance(self.waits_for, Unset):
            waits_for = self.waits_for

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "active": active,
                "created_at": created_at,
                "id": id,
                "members": members,
                "title": title,
            }
        )
        if waits_for is not UNSET:
            field_dict["waits_for"] = waits_for

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.link_member import LinkMember  # noqa: PLC0415

        d = dict(src_dict)
        active = d.pop("active")

        created_at = d.pop("created_at")

        id = d.pop("id")

        members = []
        _members = d.pop("members")
        for members_item_data in _members:
            members_item = LinkMember.from_dict(members_item_data)

            members.append(members_item)

        title = d.pop("title")

        waits_for = cast(list[str], d.pop("waits_for", UNSET))

        link_entry = cls(
            active=active,
            created_at=created_at,
            id=id,
            members=members,
            title=title,
            waits_for=waits_for,
        )

        link_entry.additional_properties = d
        return link_entry

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
