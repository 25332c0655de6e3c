from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.guard_entry import GuardEntry


T = TypeVar("T", bound="GuardsAnswer")


@_attrs_define
class GuardsAnswer:
    """Answer of `GET /guards`.

    Attributes:
        currency (str): Currency of money, as an ISO 4217 code.
        guards (list[GuardEntry]): The guards: first those of the whole server, then those of each thread.
        next_ (None | str | Unset): The `cursor` of the next page; absent if no more threads are to be read.
    """

    currency: str
    guards: list[GuardEntry]
    next_: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        currency = self.currency

        guards = []
        for guards_item_data in self.guards:
            guards_item = guards_item_data.to_dict()
            guards.append(guards_item)

        next_: None | str | Unset
        if isinstance(self.next_, Unset):
            next_ = UNSET
        else:
            next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "currency": currency,
                "guards": guards,
            }
        )
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.guard_entry import GuardEntry  # noqa: PLC0415

        d = dict(src_dict)
        currency = d.pop("currency")

        guards = []
        _guards = d.pop("guards")
        for guards_item_data in _guards:
            guards_item = GuardEntry.from_dict(guards_item_data)

            guards.append(guards_item)

        def _parse_next_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        next_ = _parse_next_(d.pop("next", UNSET))

        guards_answer = cls(
            currency=currency,
            guards=guards,
            next_=next_,
        )

        guards_answer.additional_properties = d
        return guards_answer

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
