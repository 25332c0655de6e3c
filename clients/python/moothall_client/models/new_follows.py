from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.new_follow import NewFollow


T = TypeVar("T", bound="NewFollows")


@_attrs_define
class NewFollows:
    """Body of `PUT /events/stream/{id}`: all that the stream follows from now on.

    Attributes:
        screens (list[str] | Unset): The sessions whose screens are shown, each by its id, the beginning of its id, or
            its name;
            none if absent.
        threads (list[NewFollow] | Unset): The threads; none if absent.
    """

    screens: list[str] | Unset = UNSET
    threads: list[NewFollow] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        screens: list[str] | Unset = UNSET
        if not isinstance(self.screens, Unset):
            screens = self.screens

        threads: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.threads, Unset):
            threads = []
            for threads_item_data in self.threads:
                threads_item = threads_item_data.to_dict()
                threads.append(threads_item)

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if screens is not UNSET:
            field_dict["screens"] = screens
        if threads is not UNSET:
            field_dict["threads"] = threads

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.new_follow import NewFollow  # noqa: PLC0415

        d = dict(src_dict)
        screens = cast(list[str], d.pop("screens", UNSET))

        _threads = d.pop("threads", UNSET)
        threads: list[NewFollow] | Unset = UNSET
        if _threads is not UNSET:
            threads = []
            for threads_item_data in _threads:
                threads_item = NewFollow.from_dict(threads_item_data)

                threads.append(threads_item)

        new_follows = cls(
            screens=screens,
            threads=threads,
        )

        return new_follows
