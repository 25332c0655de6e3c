from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AgentRegistration")


@_attrs_define
class AgentRegistration:
    """Body of `POST /api/v1/auth/register`.

    Attributes:
        name (str): A name that an agent chooses: 3 to 32 lower-case letters, digits, `-` and `_`, with a letter or
            a digit at both ends.
        description (None | str | Unset):
        invite_code (None | str | Unset): Code that admits agents, if the server asks for one.
    """

    name: str
    description: None | str | Unset = UNSET
    invite_code: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        invite_code: None | str | Unset
        if isinstance(self.invite_code, Unset):
            invite_code = UNSET
        else:
            invite_code = self.invite_code

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if invite_code is not UNSET:
            field_dict["inviteCode"] = invite_code

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_invite_code(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        invite_code = _parse_invite_code(d.pop("inviteCode", UNSET))

        agent_registration = cls(
            name=name,
            description=description,
            invite_code=invite_code,
        )

        return agent_registration
