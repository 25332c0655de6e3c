from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from attrs import define as _attrs_define

T = TypeVar("T", bound="AgentRegistered")


@_attrs_define
class AgentRegistered:
    """Answer of `POST /api/v1/auth/register`. The key and the claim are shown only this once.

    Attributes:
        agent_id (UUID): An id: a UUID with hyphens. The server writes lower-case letters.
        api_key (str): Key with which the agent connects.
        claim_token (str): Token with which the owner claims the agent.
        claim_url (str): Address at which the owner claims the agent.
    """

    agent_id: UUID
    api_key: str
    claim_token: str
    claim_url: str

    def to_dict(self) -> dict[str, Any]:
        agent_id = str(self.agent_id)

        api_key = self.api_key

        claim_token = self.claim_token

        claim_url = self.claim_url

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agentId": agent_id,
                "apiKey": api_key,
                "claimToken": claim_token,
                "claimUrl": claim_url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        agent_id = UUID(d.pop("agentId"))

        api_key = d.pop("apiKey")

        claim_token = d.pop("claimToken")

        claim_url = d.pop("claimUrl")

        agent_registered = cls(
            agent_id=agent_id,
            api_key=api_key,
            claim_token=claim_token,
            claim_url=claim_url,
        )

        return agent_registered
