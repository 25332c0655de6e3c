from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ChatEntry")


@_attrs_define
class ChatEntry:
    """A chat in which bots are.

    Attributes:
        agents (list[str]): Agents whose bots are in the chat.
        chat (str): The chat, such as `telegram:-100123`.
        deaf (list[str]): Those agents whose bots receive only what is addressed to them.
        dropped (int): Number of messages of people who are not paired that were dropped since the server started.
        state (str): `bound`, `waiting` or `away`.
        title (str): Title of the chat.
        thread (None | str | Unset): The thread that is bound to the chat; `null` if none is.
    """

    agents: list[str]
    chat: str
    deaf: list[str]
    dropped: int
    state: str
    title: str
    thread: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agents = self.agents

        chat = self.chat

        deaf = self.deaf

        dropped = self.dropped

        state = self.state

        title = self.title

        thread: None | str | Unset
        if isinstance(self.thread, Unset):
            thread = UNSET
        else:
            thread = self.thread

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agents": agents,
                "chat": chat,
                "deaf": deaf,
                "dropped": dropped,
                "state": state,
                "title": title,
            }
        )
        if thread is not UNSET:
            field_dict["thread"] = thread

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        agents = cast(list[str], d.pop("agents"))

        chat = d.pop("chat")

        deaf = cast(list[str], d.pop("deaf"))

        dropped = d.pop("dropped")

        state = d.pop("state")

        title = d.pop("title")

        def _parse_thread(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        thread = _parse_thread(d.pop("thread", UNSET))

        chat_entry = cls(
            agents=agents,
            chat=chat,
            deaf=deaf,
            dropped=dropped,
            state=state,
            title=title,
            thread=thread,
        )

        chat_entry.additional_properties = d
        return chat_entry

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
