from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DiscussionState")


@_attrs_define
class DiscussionState:
    """The two switches for agents' mentions. Both have to be on.

    Attributes:
        allow_agent_mentions (bool): True if agents may mention agents.
        on (bool): True if `discussion` is on.
    """

    allow_agent_mentions: bool
    on: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        allow_agent_mentions = self.allow_agent_mentions

        on = self.on

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "allow_agent_mentions": allow_agent_mentions,
                "on": on,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        allow_agent_mentions = d.pop("allow_agent_mentions")

        on = d.pop("on")

        discussion_state = cls(
            allow_agent_mentions=allow_agent_mentions,
            on=on,
        )

        discussion_state.additional_properties = d
        return discussion_state

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
