from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.session_entry import SessionEntry


T = TypeVar("T", bound="AttachAnswer")


@_attrs_define
class AttachAnswer:
    """Answer of `GET /sessions/{id}/attach`.

    Attributes:
        argv (list[str]): Command with which a person on the server's computer opens the terminal and types into it.
        session (SessionEntry): A session: one run of a program in a terminal.
    """

    argv: list[str]
    session: SessionEntry
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        argv = self.argv

        session = self.session.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "argv": argv,
                "session": session,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.session_entry import SessionEntry  # noqa: PLC0415

        d = dict(src_dict)
        argv = cast(list[str], d.pop("argv"))

        session = SessionEntry.from_dict(d.pop("session"))

        attach_answer = cls(
            argv=argv,
            session=session,
        )

        attach_answer.additional_properties = d
        return attach_answer

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
