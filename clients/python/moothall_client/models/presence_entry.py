from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.presence_entry_details_type_0 import PresenceEntryDetailsType0


T = TypeVar("T", bound="PresenceEntry")


@_attrs_define
class PresenceEntry:
    """The presence of one participant in a thread.

    Attributes:
        id (str): Id of the participant.
        stale (bool): True if the presence is older than `ttl_seconds`. The participant counts as offline then.
        state (str): Presence: `listening`, `thinking`, `typing`, `idle`, or the client's own word.
        updated_at (str): Time of the last update.
        details (None | PresenceEntryDetailsType0 | Unset): Further details from the client; `null` if there are none.
    """

    id: str
    stale: bool
    state: str
    updated_at: str
    details: None | PresenceEntryDetailsType0 | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.presence_entry_details_type_0 import PresenceEntryDetailsType0  # noqa: PLC0415

        id = self.id

        stale = self.stale

        state = self.state

        updated_at = self.updated_at

        details: dict[str, Any] | None | Unset
        if isinstance(self.details, Unset):
            details = UNSET
        elif isinstance(self.details, PresenceEntryDetailsType0):
            details = self.details.to_dict()
        else:
            details = self.details

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "stale": stale,
                "state": state,
                "updated_at": updated_at,
            }
        )
        if details is not UNSET:
            field_dict["details"] = details

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.presence_entry_details_type_0 import PresenceEntryDetailsType0  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        stale = d.pop("stale")

        state = d.pop("state")

        updated_at = d.pop("updated_at")

        def _parse_details(data: object) -> None | PresenceEntryDetailsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                details_type_0 = PresenceEntryDetailsType0.from_dict(data)

                return details_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PresenceEntryDetailsType0 | Unset, data)

        details = _parse_details(d.pop("details", UNSET))

        presence_entry = cls(
            id=id,
            stale=stale,
            state=state,
            updated_at=updated_at,
            details=details,
        )

        presence_entry.additional_properties = d
        return presence_entry

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
