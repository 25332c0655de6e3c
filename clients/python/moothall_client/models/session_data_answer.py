from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.session_entry import SessionEntry


T = TypeVar("T", bound="SessionDataAnswer")


@_attrs_define
class SessionDataAnswer:
    """Answer of `GET /sessions/{id}/data`.

    Attributes:
        session (SessionEntry): A session: one run of a program in a terminal.
        tail_chars (int): Maximum number of characters in the text.
        text (str): Input and answers of the session, oldest first. Only the end is kept.
        truncated (bool): True if the beginning of the text was cut off.
        notice (None | str | Unset): A way to get the missing text; absent if nothing was cut off.
    """

    session: SessionEntry
    tail_chars: int
    text: str
    truncated: bool
    notice: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        session = self.session.to_dict()

        tail_chars = self.tail_chars

        text = self.text

        truncated = self.truncated

        notice: None | str | Unset
        if isinstance(self.notice, Unset):
            notice = UNSET
        else:
            notice = self.notice

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "session": session,
                "tail_chars": tail_chars,
                "text": text,
                "truncated": truncated,
            }
        )
        if notice is not UNSET:
            field_dict["notice"] = notice

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.session_entry import SessionEntry  # noqa: PLC0415

        d = dict(src_dict)
        session = SessionEntry.from_dict(d.pop("session"))

        tail_chars = d.pop("tail_chars")

        text = d.pop("text")

        truncated = d.pop("truncated")

        def _parse_notice(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        notice = _parse_notice(d.pop("notice", UNSET))

        session_data_answer = cls(
            session=session,
            tail_chars=tail_chars,
            text=text,
            truncated=truncated,
            notice=notice,
        )

        session_data_answer.additional_properties = d
        return session_data_answer

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
