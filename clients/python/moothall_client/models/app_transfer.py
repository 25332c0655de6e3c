from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="AppTransfer")


@_attrs_define
class AppTransfer:
    """Body of `POST /apps/{id}/transfer`.

    Attributes:
        agent (str): Name or id of a registered agent.
    """

    agent: str

    def to_dict(self) -> dict[str, Any]:
        agent = self.agent

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agent": agent,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        agent = d.pop("agent")

        app_transfer = cls(
            agent=agent,
        )

        return app_transfer
