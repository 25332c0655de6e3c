from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ChatEntry")


@_attrs_define
class ChatEntry:
    """A chat to which a thread is bound, or in which bots are.

    Attributes:
        agents (list[str]): Agents whose bots are known to be in the chat. Empty if nothing arrived from there since
            the server started.
        chat (str): The chat, such as `telegram:-100123`.
        cost_today_micros (int): Cost of these turns, in millionths of the currency.
        deaf (list[str]): Those agents whose bots receive only what is addressed to them.
        dropped (int): Number of messages of people who are not paired that were dropped since the server started.
        owed (int): Number of deliveries to the chat that are not finished.
        state (str): `bound`, `waiting` or `away`.
        title (str): Title of the chat; empty if it is not known since the server started.
        turns_today (int): Number of turns that began today (UTC) in the bound thread.
        cure (None | str | Unset): The next step for people, if the state needs one.
        thread (None | str | Unset): The thread that is bound to the chat; `null` if none is.
    """

    agents: list[str]
    chat: str
    cost_today_micros: int
    deaf: list[str]
    dropped: int
    owed: int
    state: str
    title: str
    turns_today: int
    cure: None | str | Unset = UNSET
    thread: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agents = self.agents

        chat = self.chat

        cost_today_micros = self.cost_today_micros

        deaf = self.deaf

        dropped = self.dropped

        owed = self.owed

        state = self.state

        title = self.title

        turns_today = self.turns_today

        cure: None | str | Unset
        if isinstance(self.cure, Unset):
            cure = UNSET
        else:
            cure = self.cure

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
                "cost_today_micros": cost_today_micros,
                "deaf": deaf,
                "dropped": dropped,
                "owed": owed,
                "state": state,
                "title": title,
                "turns_today": turns_today,
            }
        )
        if cure is not UNSET:
            field_dict["cure"] = cure
        if thread is not UNSET:
            field_dict["thread"] = thread

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        agents = cast(list[str], d.pop("agents"))

        chat = d.pop("chat")

        cost_today_micros = d.pop("cost_today_micros")

        deaf = cast(list[str], d.pop("deaf"))

        dropped = d.pop("dropped")

        owed = d.pop("owed")

        state = d.pop("state")

        title = d.pop("title")

        turns_today = d.pop("turns_today")

        def _parse_cure(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cure = _parse_cure(d.pop("cure", UNSET))

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
            cost_today_micros=cost_today_micros,
            deaf=deaf,
            dropped=dropped,
            owed=owed,
            state=state,
            title=title,
            turns_today=turns_today,
            cure=cure,
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
