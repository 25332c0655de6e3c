from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Bell")


@_attrs_define
class Bell:
    """A notification of `GET /events/stream`: a thread has a new head.

    Attributes:
        head (int): Position of the thread's newest event.
        thread (str): Id of the thread with new events.
        waits_for_people (int | Unset): Number of things in the thread that wait for a person, as in the list of
            threads.
    """

    head: int
    thread: str
    waits_for_people: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        head = self.head

        thread = self.thread

        waits_for_people = self.waits_for_people

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "head": head,
                "thread": thread,
            }
        )
        if waits_for_people is not UNSET:
            field_dict["waits_for_people"] = waits_for_people

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        head = d.pop("head")

        thread = d.pop("thread")

        waits_for_people = d.pop("waits_for_people", UNSET)

        bell = cls(
            head=head,
            thread=thread,
            waits_for_people=waits_for_people,
        )

        bell.additional_properties = d
        return bell

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
