from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="NewKeystroke")


@_attrs_define
class NewKeystroke:
    """A keystroke: exactly one of its fields.

    Attributes:
        key (None | str | Unset): A key: `enter`, `escape`, `tab`, `back_tab`, `backspace`, `delete`, `up`, `down`,
            `left`,
            `right`, `home`, `end`, `page_up`, `page_down`, or `ctrl+` and a letter.
        paste (None | str | Unset): Text that the program gets as one paste.
        text (None | str | Unset): Characters, typed one after the other. Control characters among them are left out.
    """

    key: None | str | Unset = UNSET
    paste: None | str | Unset = UNSET
    text: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        key: None | str | Unset
        if isinstance(self.key, Unset):
            key = UNSET
        else:
            key = self.key

        paste: None | str | Unset
        if isinstance(self.paste, Unset):
            paste = UNSET
        else:
            paste = self.paste

        text: None | str | Unset
        if isinstance(self.text, Unset):
            text = UNSET
        else:
            text = self.text

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if key is not UNSET:
            field_dict["key"] = key
        if paste is not UNSET:
            field_dict["paste"] = paste
        if text is not UNSET:
            field_dict["text"] = text

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_key(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        key = _parse_key(d.pop("key", UNSET))

        def _parse_paste(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        paste = _parse_paste(d.pop("paste", UNSET))

        def _parse_text(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        text = _parse_text(d.pop("text", UNSET))

        new_keystroke = cls(
            key=key,
            paste=paste,
            text=text,
        )

        return new_keystroke
