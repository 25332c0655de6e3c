from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BotEntry")


@_attrs_define
class BotEntry:
    """A bot: the account by which an agent speaks in a channel.

    Attributes:
        agent (str): The agent that speaks by the bot.
        private (bool): True if the bot receives only what is addressed to it in a group whose admin it is not.
        since (str): Time at which the state began.
        state (str): `starting`, `hearing`, `doubled`, `foreign`, `revoked`, `unreachable` or `stopped`.
        cure (None | str | Unset): The next step for people, if the state needs one.
        heard_at (None | str | Unset): Time of the newest message that the bot received; `null` if it received none.
        username (None | str | Unset): Name of the bot in the channel, without `@`; `null` until it is known.
    """

    agent: str
    private: bool
    since: str
    state: str
    cure: None | str | Unset = UNSET
    heard_at: None | str | Unset = UNSET
    username: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agent = self.agent

        private = self.private

        since = self.since

        state = self.state

        cure: None | str | Unset
        if isinstance(self.cure, Unset):
            cure = UNSET
        else:
            cure = self.cure

        heard_at: None | str | Unset
        if isinstance(self.heard_at, Unset):
            heard_at = UNSET
        else:
            heard_at = self.heard_at

        username: None | str | Unset
        if isinstance(self.username, Unset):
            username = UNSET
        else:
            username = self.username

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent": agent,
                "private": private,
                "since": since,
                "state": state,
            }
        )
        if cure is not UNSET:
            field_dict["cure"] = cure
        if heard_at is not UNSET:
            field_dict["heard_at"] = heard_at
        if username is not UNSET:
            field_dict["username"] = username

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        agent = d.pop("agent")

        private = d.pop("private")

        since = d.pop("since")

        state = d.pop("state")

        def _parse_cure(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cure = _parse_cure(d.pop("cure", UNSET))

        def _parse_heard_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        heard_at = _parse_heard_at(d.pop("heard_at", UNSET))

        def _parse_username(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        username = _parse_username(d.pop("username", UNSET))

        bot_entry = cls(
            agent=agent,
            private=private,
            since=since,
            state=state,
            cure=cure,
            heard_at=heard_at,
            username=username,
        )

        bot_entry.additional_properties = d
        return bot_entry

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
