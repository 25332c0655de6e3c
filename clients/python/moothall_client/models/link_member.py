from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="LinkMember")


@_attrs_define
class LinkMember:
    """A member of a link.

    Attributes:
        name (str): Name of the member in the link.
        session (str): Id of the member's session.
        computer (None | str | Unset): Name of the session's computer; absent for the server's own.
        number (int | None | Unset): Number of the member, shown beside its name before its words; absent if it has
            none.
        role (None | str | Unset): Purpose of the member in the link; absent if none was given.
    """

    name: str
    session: str
    computer: None | str | Unset = UNSET
    number: int | None | Unset = UNSET
    role: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        session = self.session

        computer: None | str | Unset
        if isinstance(self.computer, Unset):
            computer = UNSET
        else:
            computer = self.computer

        number: int | None | Unset
        if isinstance(self.number, Unset):
            number = UNSET
        else:
            number = self.number

        role: None | str | Unset
        if isinstance(self.role, Unset):
            role = UNSET
        else:
            role = self.role

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "session": session,
            }
        )
        if computer is not UNSET:
            field_dict["computer"] = computer
        if number is not UNSET:
            field_dict["number"] = number
        if role is not UNSET:
            field_dict["role"] = role

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        session = d.pop("session")

        def _parse_computer(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        computer = _parse_computer(d.pop("computer", UNSET))

        def _parse_number(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        number = _parse_number(d.pop("number", UNSET))

        def _parse_role(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        role = _parse_role(d.pop("role", UNSET))

        link_member = cls(
            name=name,
            session=session,
            computer=computer,
            number=number,
            role=role,
        )

        link_member.additional_properties = d
        return link_member

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
