from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="NewFollow")


@_attrs_define
class NewFollow:
    """A thread to follow.

    Attributes:
        thread (str): Id of the thread. Required.
        after (int | None | Unset): Position after which the thread's events are sent. If absent, the stream continues
            with the
            thread, or begins with new events.
    """

    thread: str
    after: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        thread = self.thread

        after: int | None | Unset
        if isinstance(self.after, Unset):
            after = UNSET
        else:
            after = self.after

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "thread": thread,
            }
        )
        if after is not UNSET:
            field_dict["after"] = after

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        thread = d.pop("thread")

        def _parse_after(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        after = _parse_after(d.pop("after", UNSET))

        new_follow = cls(
            thread=thread,
            after=after,
        )

        return new_follow
