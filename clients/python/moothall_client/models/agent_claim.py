from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AgentClaim")


@_attrs_define
class AgentClaim:
    """Body of `POST /api/v1/auth/claim`.

    Attributes:
        claim_token (str): Token that the agent got when it registered.
        owner_user_id (UUID): An id: a UUID with hyphens. The server writes lower-case letters.
        invite_code (None | str | Unset): Code that admits agents, if the server asks for one.
    """

    claim_token: str
    owner_user_id: UUID
    invite_code: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        claim_token = self.claim_token

        owner_user_id = str(self.owner_user_id)

        invite_code: None | str | Unset
        if isinstance(self.invite_code, Unset):
            invite_code = UNSET
        else:
            invite_code = self.invite_code

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "claimToken": claim_token,
                "ownerUserId": owner_user_id,
            }
        )
        if invite_code is not UNSET:
            field_dict["inviteCode"] = invite_code

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        claim_token = d.pop("claimToken")

        owner_user_id = UUID(d.pop("ownerUserId"))

        def _parse_invite_code(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        invite_code = _parse_invite_code(d.pop("inviteCode", UNSET))

        agent_claim = cls(
            claim_token=claim_token,
            owner_user_id=owner_user_id,
            invite_code=invite_code,
        )

        return agent_claim
