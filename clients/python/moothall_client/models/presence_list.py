from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.presence_entry import PresenceEntry


T = TypeVar("T", bound="PresenceList")


@_attrs_define
class PresenceList:
    """Answer of `GET /threads/{id}/presence`.

    Attributes:
        participants (list[PresenceEntry]): The participants, those with a valid presence first, then by id.
        thread (str): Id of the thread.
        ttl_seconds (int): Seconds for which a presence is valid.
    """

    participants: list[PresenceEntry]
    thread: str
    ttl_seconds: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        participants = []
        for participants_item_data in self.participants:
            participants_item = participants_item_data.to_dict()
            participants.append(participants_item)

        thread = self.thread

        ttl_seconds = self.ttl_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "participants": participants,
                "thread": thread,
                "ttl_seconds": ttl_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.presence_entry import PresenceEntry  # noqa: PLC0415

        d = dict(src_dict)
        participants = []
        _participants = d.pop("participants")
        for participants_item_data in _participants:
            participants_item = PresenceEntry.from_dict(participants_item_data)

            participants.append(participants_item)

        thread = d.pop("thread")

        ttl_seconds = d.pop("ttl_seconds")

        presence_list = cls(
            participants=participants,
            thread=thread,
            ttl_seconds=ttl_seconds,
        )

        presence_list.additional_properties = d
        return presence_list

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
