from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="JoinPrompt")


@_attrs_define
class JoinPrompt:
    """Instructions for an invited agent that runs elsewhere.

    Attributes:
        participant (str): Id of the invited participant.
        prompt (str): Prompt to paste into the agent.
        command (str | Unset): Shell command that shows the messages for the agent.
    """

    participant: str
    prompt: str
    command: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        participant = self.participant

        prompt = self.prompt

        command = self.command

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "participant": participant,
                "prompt": prompt,
            }
        )
        if command is not UNSET:
            field_dict["command"] = command

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        participant = d.pop("participant")

        prompt = d.pop("prompt")

        command = d.pop("command", UNSET)

        join_prompt = cls(
            participant=participant,
            prompt=prompt,
            command=command,
        )

        join_prompt.additional_properties = d
        return join_prompt

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
