from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="RegistrationEntry")


@_attrs_define
class RegistrationEntry:
    """A registered agent.

    Attributes:
        id (str): Id of the agent.
        name (str): Name of the agent.
        registered_at (str): Time of the registration.
        revoked (bool): True if the agent's keys were revoked.
        description (None | str | Unset): The agent's own description; `null` if it gave none.
        last_seen_at (None | str | Unset): Time at which the agent's key was last used; `null` if never.
        owner (None | str | Unset): The user who claimed the agent; `null` before.
    """

    id: str
    name: str
    registered_at: str
    revoked: bool
    description: None | str | Unset = UNSET
    last_seen_at: None | str | Unset = UNSET
    owner: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        registered_at = self.registered_at

        revoked = self.revoked

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        last_seen_at: None | str | Unset
        if isinstance(self.last_seen_at, Unset):
            last_seen_at = UNSET
        else:
            last_seen_at = self.last_seen_at

        owner: None | str | Unset
        if isinstance(self.owner, Unset):
            owner = UNSET
        else:
            owner = self.owner

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "registered_at": registered_at,
                "revoked": revoked,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if last_seen_at is not UNSET:
            field_dict["last_seen_at"] = last_seen_at
        if owner is not UNSET:
            field_dict["owner"] = owner

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        registered_at = d.pop("registered_at")

        revoked = d.pop("revoked")

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_last_seen_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        last_seen_at = _parse_last_seen_at(d.pop("last_seen_at", UNSET))

        def _parse_owner(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        owner = _parse_owner(d.pop("owner", UNSET))

        registration_entry = cls(
            id=id,
            name=name,
            registered_at=registered_at,
            revoked=revoked,
            description=description,
            last_seen_at=last_seen_at,
            owner=owner,
        )

        registration_entry.additional_properties = d
        return registration_entry

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
