from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="DeliveryEntry")


@_attrs_define
class DeliveryEntry:
    """A delivery of an event to a chat.

    Attributes:
        chat (str): The chat, such as `telegram:-100123`.
        id (int): Id of the delivery.
        seq (int): Position of the event.
        state (str): `pending`, `sending`, `done`, `failed` or `unknown`.
        why (None | str | Unset): The reason for the state, as a sentence; `null` if there is none.
    """

    chat: str
    id: int
    seq: int
    state: str
    why: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        chat = self.chat

        id = self.id

        seq = self.seq

        state = self.state

        why: None | str | Unset
        if isinstance(self.why, Unset):
            why = UNSET
        else:
            why = self.why

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "chat": chat,
                "id": id,
                "seq": seq,
                "state": state,
            }
        )
        if why is not UNSET:
            field_dict["why"] = why

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        chat = d.pop("chat")

        id = d.pop("id")

        seq = d.pop("seq")

        state = d.pop("state")

        def _parse_why(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        why = _parse_why(d.pop("why", UNSET))

        delivery_entry = cls(
            chat=chat,
            id=id,
            seq=seq,
            state=state,
            why=why,
        )

        delivery_entry.additional_properties = d
        return delivery_entry

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
