from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.session_entry import SessionEntry


T = TypeVar("T", bound="SessionResumed")


@_attrs_define
class SessionResumed:
    """Answer of `POST /sessions/{id}/resume`.

    Attributes:
        links (list[str]): Ids of the links that are active again.
        remembers (bool): True if the program continues with its memory; false if it began anew.
        session (SessionEntry): A session: one run of a program in a terminal.
        left_out (list[str] | Unset): Arguments of the first start that were left out now, because they are or may be a
            prompt.
    """

    links: list[str]
    remembers: bool
    session: SessionEntry
    left_out: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        links = self.links

        remembers = self.remembers

        session = self.session.to_dict()

        left_out: list[str] | Unset = UNSET
        if not isinstance(self.left_out, Unset):
            left_out = self.left_out

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "links": links,
                "remembers": remembers,
                "session": session,
            }
        )
        if left_out is not UNSET:
            field_dict["left_out"] = left_out

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.session_entry import SessionEntry  # noqa: PLC0415

        d = dict(src_dict)
        links = cast(list[str], d.pop("links"))

        remembers = d.pop("remembers")

        session = SessionEntry.from_dict(d.pop("session"))

        left_out = cast(list[str], d.pop("left_out", UNSET))

        session_resumed = cls(
            links=links,
            remembers=remembers,
            session=session,
            left_out=left_out,
        )

        session_resumed.additional_properties = d
        return session_resumed

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
