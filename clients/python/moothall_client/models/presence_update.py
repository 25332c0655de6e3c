from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.presence_update_details_type_0 import PresenceUpdateDetailsType0


T = TypeVar("T", bound="PresenceUpdate")


@_attrs_define
class PresenceUpdate:
    """A new presence: the `presence` signal of a stream, and part of the answer to a post.

    Attributes:
        participant (str): Id of the participant.
        state (str): Presence: `listening`, `thinking`, `typing`, `idle`, or the client's own word.
        thread (str): Id of the thread.
        updated_at (str): Time of the update.
        details (None | PresenceUpdateDetailsType0 | Unset): Further details from the client; absent if there are none.
    """

    participant: str
    state: str
    thread: str
    updated_at: str
    details: None | PresenceUpdateDetailsType0 | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.presence_update_details_type_0 import PresenceUpdateDetailsType0  # noqa: PLC0415

        participant = self.participant

        state = self.state

        thread = self.thread

        updated_at = self.updated_at

        details: dict[str, Any] | None | Unset
        if isinstance(self.details, Unset):
            details = UNSET
        elif isinstance(self.details, PresenceUpdateDetailsType0):
            details = self.details.to_dict()
        else:
            details = self.details

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "participant": participant,
                "state": state,
                "thread": thread,
                "updated_at": updated_at,
            }
        )
        if details is not UNSET:
            field_dict["details"] = details

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.presence_update_details_type_0 import PresenceUpdateDetailsType0  # noqa: PLC0415

        d = dict(src_dict)
        participant = d.pop("participant")

        state = d.pop("state")

        thread = d.pop("thread")

        updated_at = d.pop("updated_at")

        def _parse_details(data: object) -> None | PresenceUpdateDetailsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                details_type_0 = PresenceUpdateDetailsType0.from_dict(data)

                return details_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PresenceUpdateDetailsType0 | Unset, data)

        details = _parse_details(d.pop("details", UNSET))

        presence_update = cls(
            participant=participant,
            state=state,
            thread=thread,
            updated_at=updated_at,
            details=details,
        )

        presence_update.additional_properties = d
        return presence_update

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
