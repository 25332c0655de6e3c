from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.presence_update import PresenceUpdate


T = TypeVar("T", bound="PresenceAccepted")


@_attrs_define
class PresenceAccepted:
    """Answer of `POST /threads/{id}/presence`.

    Attributes:
        presence (PresenceUpdate): A new presence: the `presence` signal of a stream, and part of the answer to a post.
        received (bool): Always `true`: the presence is valid from now on.
    """

    presence: PresenceUpdate
    received: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        presence = self.presence.to_dict()

        received = self.received

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "presence": presence,
                "received": received,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.presence_update import PresenceUpdate  # noqa: PLC0415

        d = dict(src_dict)
        presence = PresenceUpdate.from_dict(d.pop("presence"))

        received = d.pop("received")

        presence_accepted = cls(
            presence=presence,
            received=received,
        )

        presence_accepted.additional_properties = d
        return presence_accepted

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
