from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="InvitationAccepted")


@_attrs_define
class InvitationAccepted:
    """Body of `POST /invitations/accept`.

    Attributes:
        code (str): Code of the invitation. It can be used once.
    """

    code: str

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "code": code,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code")

        invitation_accepted = cls(
            code=code,
        )

        return invitation_accepted
