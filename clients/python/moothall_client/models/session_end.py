from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SessionEnd")


@_attrs_define
class SessionEnd:
    """The end of a session.

    Attributes:
        at (str): When it ended: RFC 3339, UTC, milliseconds.
        lost (bool): True if the terminal was lost with the computer or the multiplexer. `moothall resume --all`
            restarts such sessions.
        why (str): Reason of the end, in one sentence.
    """

    at: str
    lost: bool
    why: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at

        lost = self.lost

        why = self.why

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "lost": lost,
                "why": why,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = d.pop("at")

        lost = d.pop("lost")

        why = d.pop("why")

        session_end = cls(
            at=at,
            lost=lost,
            why=why,
        )

        session_end.additional_properties = d
        return session_end

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
