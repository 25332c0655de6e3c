from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ThreadDeleted")


@_attrs_define
class ThreadDeleted:
    """Answer of `DELETE /threads/{id}`.

    Attributes:
        backups (str): Note for people about backups that still hold the thread.
        deleted (bool): Always `true`: the thread is deleted for all participants.
        erased (bool): True if the data folder has nothing of the thread any more. If a full disk prevented this,
            the rest is erased when the request is repeated or the server restarts.
    """

    backups: str
    deleted: bool
    erased: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        backups = self.backups

        deleted = self.deleted

        erased = self.erased

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "backups": backups,
                "deleted": deleted,
                "erased": erased,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        backups = d.pop("backups")

        deleted = d.pop("deleted")

        erased = d.pop("erased")

        thread_deleted = cls(
            backups=backups,
            deleted=deleted,
            erased=erased,
        )

        thread_deleted.additional_properties = d
        return thread_deleted

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
