from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="LastMessage")


@_attrs_define
class LastMessage:
    """The newest message of a thread, for a list.

    Attributes:
        from_ (str): Id of the speaker.
        seq (int): Position of the message.
        text (str): The beginning of the words, at most 200 characters; empty after an erasure.
        redacted (bool | Unset): True if the words were erased.
    """

    from_: str
    seq: int
    text: str
    redacted: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from_ = self.from_

        seq = self.seq

        text = self.text

        redacted = self.redacted

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "from": from_,
                "seq": seq,
                "text": text,
            }
        )
        if redacted is not UNSET:
            field_dict["redacted"] = redacted

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        from_ = d.pop("from")

        seq = d.pop("seq")

        text = d.pop("text")

        redacted = d.pop("redacted", UNSET)

        last_message = cls(
            from_=from_,
            seq=seq,
            text=text,
            redacted=redacted,
        )

        last_message.additional_properties = d
        return last_message

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
