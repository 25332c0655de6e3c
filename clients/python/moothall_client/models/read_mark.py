from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ReadMark")


@_attrs_define
class ReadMark:
    """Answer of `PUT /threads/{id}/read`.

    Attributes:
        read (int): Position of the mark now. A mark never moves back, nor past the thread's newest event.
        reader (str): Id of the reader.
        thread (str): Id of the thread.
        unread (int): Number of messages of others after the mark; 100 stands for 100 or more.
    """

    read: int
    reader: str
    thread: str
    unread: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        read = self.read

        reader = self.reader

        thread = self.thread

        unread = self.unread

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "read": read,
                "reader": reader,
                "thread": thread,
                "unread": unread,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        read = d.pop("read")

        reader = d.pop("reader")

        thread = d.pop("thread")

        unread = d.pop("unread")

        read_mark = cls(
            read=read,
            reader=reader,
            thread=thread,
            unread=unread,
        )

        read_mark.additional_properties = d
        return read_mark

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
