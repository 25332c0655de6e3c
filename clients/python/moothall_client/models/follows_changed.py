from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FollowsChanged")


@_attrs_define
class FollowsChanged:
    """Answer of `PUT /events/stream/{id}`: what the stream is asked to follow.

    Attributes:
        screens (list[str]): The sessions whose screens are shown.
        stream (str): Id of the stream.
        threads (list[str]): Ids of the threads.
    """

    screens: list[str]
    stream: str
    threads: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        screens = self.screens

        stream = self.stream

        threads = self.threads

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "screens": screens,
                "stream": stream,
                "threads": threads,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        screens = cast(list[str], d.pop("screens"))

        stream = d.pop("stream")

        threads = cast(list[str], d.pop("threads"))

        follows_changed = cls(
            screens=screens,
            stream=stream,
            threads=threads,
        )

        follows_changed.additional_properties = d
        return follows_changed

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
