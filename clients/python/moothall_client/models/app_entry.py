from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AppEntry")


@_attrs_define
class AppEntry:
    """An app that an agent manages.

    Attributes:
        agent (str): Id of the agent that manages the app's tasks.
        connected (bool): True if the app is asked over an open connection now.
        id (str): Id of the app.
        name (str): Name from the app's manifest; empty if no agent has registered the app yet.
        since (str): Time since which the agent manages the app.
        agent_name (None | str | Unset): Name of that agent; `null` if the name was freed.
    """

    agent: str
    connected: bool
    id: str
    name: str
    since: str
    agent_name: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agent = self.agent

        connected = self.connected

        id = self.id

        name = self.name

        since = self.since

        agent_name: None | str | Unset
        if isinstance(self.agent_name, Unset):
            agent_name = UNSET
        else:
            agent_name = self.agent_name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent": agent,
                "connected": connected,
                "id": id,
                "name": name,
                "since": since,
            }
        )
        if agent_name is not UNSET:
            field_dict["agent_name"] = agent_name

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        agent = d.pop("agent")

        connected = d.pop("connected")

        id = d.pop("id")

        name = d.pop("name")

        since = d.pop("since")

        def _parse_agent_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        agent_name = _parse_agent_name(d.pop("agent_name", UNSET))

        app_entry = cls(
            agent=agent,
            connected=connected,
            id=id,
            name=name,
            since=since,
            agent_name=agent_name,
        )

        app_entry.additional_properties = d
        return app_entry

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
