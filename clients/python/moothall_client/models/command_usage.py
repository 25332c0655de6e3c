from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CommandUsage")


@_attrs_define
class CommandUsage:
    """A slash command, as help and completion show it.

    Attributes:
        arguments (str): Arguments of the command, with optional ones in square brackets.
        does (str): Effect of the command, in one sentence.
        example (str): An example that can be sent unchanged.
        name (str): Name of the command.
    """

    arguments: str
    does: str
    example: str
    name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        arguments = self.arguments

        does = self.does

        example = self.example

        name = self.name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "arguments": arguments,
                "does": does,
                "example": example,
                "name": name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        arguments = d.pop("arguments")

        does = d.pop("does")

        example = d.pop("example")

        name = d.pop("name")

        command_usage = cls(
            arguments=arguments,
            does=does,
            example=example,
            name=name,
        )

        command_usage.additional_properties = d
        return command_usage

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
