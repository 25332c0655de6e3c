from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="NewTask")


@_attrs_define
class NewTask:
    """Body of `POST /tasks`.

    Attributes:
        agents (list[str]): Names or ids of registered agents. The first one manages the task. Required.
        name (None | str | Unset): Title of the task's conversation; if absent, the names of its agents.
    """

    agents: list[str]
    name: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        agents = self.agents

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agents": agents,
            }
        )
        if name is not UNSET:
            field_dict["name"] = name

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        agents = cast(list[str], d.pop("agents"))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        new_task = cls(
            agents=agents,
            name=name,
        )

        return new_task
