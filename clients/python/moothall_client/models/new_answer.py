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
        option (str): One of its options: its id, its words or their beginning, its number, or `allow` or `deny`, which
            mean the one option that allows
            or refuses it this once. Required.
        thread (str): The thread in which it was asked. Required.
        from_ (None | str | Unset): Who answers: a person; `user` where it is missing.
    """

    option: str
    thread: str
    from_: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        option = self.option

        thread = self.thread

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "option": option,
                "thread": thread,
            }
        )
        if from_ is not UNSET:
            field_dict["from"] = from_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        option = d.pop("option")

        thread = d.pop("thread")

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        new_answer = cls(
            option=option,
            thread=thread,
            from_=from_,
        )

        return new_answer
