from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.invited_entry import InvitedEntry
    from ..models.left_entry import LeftEntry


T = TypeVar("T", bound="ParticipantsState")


@_attrs_define
class ParticipantsState:
    """The participants of a thread.

    Attributes:
        invited (list[InvitedEntry]): The present participants, ordered by id.
        left (list[LeftEntry] | Unset): The participants who left, ordered by id. The history keeps their names.
    """

    invited: list[InvitedEntry]
    left: list[LeftEntry] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        invited = []
        for invited_item_data in self.invited:
            invited_item = invited_item_data.to_dict()
            invited.append(invited_item)

        left: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.left, Unset):
            left = []
            for left_item_data in self.left:
                left_item = left_item_data.to_dict()
                left.append(left_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "invited": invited,
            }
        )
        if left is not UNSET:
            field_dict["left"] = left

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.invited_entry import InvitedEntry  # noqa: PLC0415
        from ..models.left_entry import LeftEntry  # noqa: PLC0415

        d = dict(src_dict)
        invited = []
        _invited = d.pop("invited")
        for invited_item_data in _invited:
            invited_item = InvitedEntry.from_dict(invited_item_data)

            invited.append(invited_item)

        _left = d.pop("left", UNSET)
        left: list[LeftEntry] | Unset = UNSET
        if _left is not UNSET:
            left = []
            for left_item_data in _left:
                left_item = LeftEntry.from_dict(left_item_data)

                left.append(left_item)

        participants_state = cls(
            invited=invited,
            left=left,
        )

        participants_state.additional_properties = d
        return participants_state

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
