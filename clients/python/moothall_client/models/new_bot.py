from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="NewBot")


@_attrs_define
class NewBot:
    """Body of `POST /channels/{channel}/bots`.

    Attributes:
        agent (str): The agent of the registry that is to speak by the bot.
        token (str): The bot's token, as the product gave it.
    """

    agent: str
    token: str

    def to_dict(self) -> dict[str, Any]:
        agent = self.agent

        token = self.token

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agent": agent,
                "token": token,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        agent = d.pop("agent")

        token = d.pop("token")

        new_bot = cls(
            agent=agent,
            token=token,
        )

        return new_bot
