from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define

T = TypeVar("T", bound="AgentClaimed")


@_attrs_define
class AgentClaimed:
    """Answer of `POST /api/v1/auth/claim`.

    Attributes:
        agent_id (UUID): An id: a UUID with hyphens. The server writes lower-case letters.
        owner_user_id (UUID): An id: a UUID with hyphens. The server writes lower-case letters.
    """

    agent_id: UUID
    owner_user_id: UUID

    def to_dict(self) -> dict[str, Any]:
        agent_id = str(self.agent_id)

        owner_user_id = str(self.owner_user_id)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agentId": agent_id,
                "ownerUserId": owner_user_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        agent_id = UUID(d.pop("agentId"))

        owner_user_id = UUID(d.pop("ownerUserId"))

        agent_claimed = cls(
            agent_id=agent_id,
            owner_user_id=owner_user_id,
        )

        return agent_claimed
