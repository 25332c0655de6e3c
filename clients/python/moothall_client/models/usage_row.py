from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="UsageRow")


@_attrs_define
class UsageRow:
    """A sum of the usage of turns.

    Attributes:
        cost_micros (int): Cost in millionths of the currency, as far as prices are configured.
        input_tokens (int): Number of tokens that models read.
        output_tokens (int): Number of tokens that models wrote.
        turns (int): Number of turns that began. A turn that a restart lost and that ran again counts twice.
        unattended_turns (int): Number of turns that were not set off by a person.
        agent (None | str | Unset): Name of the agent, a client of the registry; absent in other sums.
        day (None | str | Unset): Day in UTC; absent in other sums.
        name (None | str | Unset): Title of that thread; absent in other sums.
        thread (None | str | Unset): Id of the thread; absent in other sums.
    """

    cost_micros: int
    input_tokens: int
    output_tokens: int
    turns: int
    unattended_turns: int
    agent: None | str | Unset = UNSET
    day: None | str | Unset = UNSET
    name: None | str | Unset = UNSET
    thread: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cost_micros = self.cost_micros

        input_tokens = self.input_tokens

        output_tokens = self.output_tokens

        turns = self.turns

        unattended_turns = self.unattended_turns

        agent: None | str | Unset
        if isinstance(self.agent, Unset):
            agent = UNSET
        else:
            agent = self.agent

        day: None | str | Unset
        if isinstance(self.day, Unset):
            day = UNSET
        else:
            day = self.day

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        thread: None | str | Unset
        if isinstance(self.thread, Unset):
            thread = UNSET
        else:
            thread = self.thread

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cost_micros": cost_micros,
                "input_tokens": input_tokens,
                "output_tokens": output_tokens,
                "turns": turns,
                "unattended_turns": unattended_turns,
            }
        )
        if agent is not UNSET:
            field_dict["agent"] = agent
        if day is not UNSET:
            field_dict["day"] = day
        if name is not UNSET:
            field_dict["name"] = name
        if thread is not UNSET:
            field_dict["thread"] = thread

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        cost_micros = d.pop("cost_micros")

        input_tokens = d.pop("input_tokens")

        output_tokens = d.pop("output_tokens")

        turns = d.pop("turns")

        unattended_turns = d.pop("unattended_turns")

        def _parse_agent(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        agent = _parse_agent(d.pop("agent", UNSET))

        def _parse_day(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        day = _parse_day(d.pop("day", UNSET))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_thread(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        thread = _parse_thread(d.pop("thread", UNSET))

        usage_row = cls(
            cost_micros=cost_micros,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            turns=turns,
            unattended_turns=unattended_turns,
            agent=agent,
            day=day,
            name=name,
            thread=thread,
        )

        usage_row.additional_properties = d
        return usage_row

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
