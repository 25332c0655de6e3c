from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="NewAnswer")


@_attrs_define
class NewAnswer:
    """Body of `POST /permissions/{id}/answer`.

    Attributes:
        thread (str): Id of the thread of the permission. Required.
        from_ (None | str | Unset): Id of the person who answers; `user` if absent.
        option (str | Unset): The chosen option: its id, its words or their beginning, its number, or `allow` or `deny`,
            which mean the one option that allows or refuses only this time. Several options with
            `with_others` are separated by commas. Required without `text`. With `text` it may be
            absent, and then means the one option that takes text.
        text (None | str | Unset): The person's own words, for an option with `takes_text`. Required for such an option:
            at
            least one visible character, at most 4096 bytes.
    """

    thread: str
    from_: None | str | Unset = UNSET
    option: str | Unset = UNSET
    text: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        thread = self.thread

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        option = self.option

        text: None | str | Unset
        if isinstance(self.text, Unset):
            text = UNSET
        else:
            text = self.text

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "thread": thread,
            }
        )
        if from_ is not UNSET:
            field_dict["from"] = from_
        if option is not UNSET:
            field_dict["option"] = option
        if text is not UNSET:
            field_dict["text"] = text

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        thread = d.pop("thread")

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        option = d.pop("option", UNSET)

        def _parse_text(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        text = _parse_text(d.pop("text", UNSET))

        new_answer = cls(
            thread=thread,
            from_=from_,
            option=option,
            text=text,
        )

        return new_answer
