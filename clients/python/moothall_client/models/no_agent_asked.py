from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="NoAgentAsked")


@_attrs_define
class NoAgentAsked:
    """The reason why a message asks no agent.

    Attributes:
        reason (str): Reason: a word from the table of reasons in `docs/rules.md`.
        text (str): The reason in words, with the names of this conversation.
        by (None | str | Unset): Id of the participant that stopped the conversation; absent for other reasons.
        cure (None | str | Unset): The remedy, as a sentence; absent if there is none.
    """

    reason: str
    text: str
    by: None | str | Unset = UNSET
    cure: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        text = self.text

        by: None | str | Unset
        if isinstance(self.by, Unset):
            by = UNSET
        else:
            by = self.by

        cure: None | str | Unset
        if isinstance(self.cure, Unset):
            cure = UNSET
        else:
            cure = self.cure

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "reason": reason,
                "text": text,
            }
        )
        if by is not UNSET:
            field_dict["by"] = by
        if cure is not UNSET:
            field_dict["cure"] = cure

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reason = d.pop("reason")

        text = d.pop("text")

        def _parse_by(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        by = _parse_by(d.pop("by", UNSET))

        def _parse_cure(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cure = _parse_cure(d.pop("cure", UNSET))

        no_agent_asked = cls(
            reason=reason,
            text=text,
            by=by,
            cure=cure,
        )

        no_agent_asked.additional_properties = d
        return no_agent_asked

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
