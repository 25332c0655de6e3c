from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.pending_answers import PendingAnswers
    from ..models.turn_entry import TurnEntry
    from ..models.unasked_message import UnaskedMessage


T = TypeVar("T", bound="TurnList")


@_attrs_define
class TurnList:
    """Answer of `GET /threads/{id}/turns`.

    Attributes:
        head (int): Position of the newest event that was read.
        turns (list[TurnEntry]): Turns and refusals, in the order in which they happened.
        pending (None | PendingAnswers | Unset):
        unasked (list[UnaskedMessage] | Unset): Messages about which no agent was asked, with the reason.
        whole (bool | Unset): True if the list has all turns about messages visible to the reader. Earlier versions of
            the
            server list only the reader's own turns.
    """

    head: int
    turns: list[TurnEntry]
    pending: None | PendingAnswers | Unset = UNSET
    unasked: list[UnaskedMessage] | Unset = UNSET
    whole: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.pending_answers import PendingAnswers  # noqa: PLC0415

        head = self.head

        turns = []
        for turns_item_data in self.turns:
            turns_item = turns_item_data.to_dict()
            turns.append(turns_item)

        pending: dict[str, Any] | None | Unset
        if isinstance(self.pending, Unset):
            pending = UNSET
        elif isinstance(self.pending, PendingAnswers):
            pending = self.pending.to_dict()
        else:
            pending = self.pending

        unasked: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.unasked, Unset):
            unasked = []
            for unasked_item_data in self.unasked:
                unasked_item = unasked_item_data.to_dict()
                unasked.append(unasked_item)

        whole = self.whole

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "head": head,
                "turns": turns,
            }
        )
        if pending is not UNSET:
            field_dict["pending"] = pending
        if unasked is not UNSET:
            field_dict["unasked"] = unasked
        if whole is not UNSET:
            field_dict["whole"] = whole

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pending_answers import PendingAnswers  # noqa: PLC0415
        from ..models.turn_entry import TurnEntry  # noqa: PLC0415
        from ..models.unasked_message import UnaskedMessage  # noqa: PLC0415

        d = dict(src_dict)
        head = d.pop("head")

        turns = []
        _turns = d.pop("turns")
        for turns_item_data in _turns:
            turns_item = TurnEntry.from_dict(turns_item_data)

            turns.append(turns_item)

        def _parse_pending(data: object) -> None | PendingAnswers | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                pending_type_0 = PendingAnswers.from_dict(data)

                return pending_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PendingAnswers | Unset, data)

        pending = _parse_pending(d.pop("pending", UNSET))

        _unasked = d.pop("unasked", UNSET)
        unasked: list[UnaskedMessage] | Unset = UNSET
        if _unasked is not UNSET:
            unasked = []
            for unasked_item_data in _unasked:
                unasked_item = UnaskedMessage.from_dict(unasked_item_data)

                unasked.append(unasked_item)

        whole = d.pop("whole", UNSET)

        turn_list = cls(
            head=head,
            turns=turns,
            pending=pending,
            unasked=unasked,
            whole=whole,
        )

        turn_list.additional_properties = d
        return turn_list

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
