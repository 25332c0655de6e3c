from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BudgetEntry")


@_attrs_define
class BudgetEntry:
    """A budget with its limit and its spent part.

    Attributes:
        budget (str): Kind of owner: `hall`, `conversation`, `agent` or `principal`.
        limit (int): Limit of the budget, including raises.
        measure (str): Measure: `turns` and `unattended_turns` an hour, `cost_micros` a day.
        spent (int): Part of the limit that was spent.
        until (str): Time at which the budget's window ends.
        whose (None | str | Unset): Name of the agent or principal that owns the budget; absent for other owners.
    """

    budget: str
    limit: int
    measure: str
    spent: int
    until: str
    whose: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        budget = self.budget

        limit = self.limit

        measure = self.measure

        spent = self.spent

        until = self.until

        whose: None | str | Unset
        if isinstance(self.whose, Unset):
            whose = UNSET
        else:
            whose = self.whose

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "budget": budget,
                "limit": limit,
                "measure": measure,
                "spent": spent,
                "until": until,
            }
        )
        if whose is not UNSET:
            field_dict["whose"] = whose

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        budget = d.pop("budget")

        limit = d.pop("limit")

        measure = d.pop("measure")

        spent = d.pop("spent")

        until = d.pop("until")

        def _parse_whose(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        whose = _parse_whose(d.pop("whose", UNSET))

        budget_entry = cls(
            budget=budget,
            limit=limit,
            measure=measure,
            spent=spent,
            until=until,
            whose=whose,
        )

        budget_entry.additional_properties = d
        return budget_entry

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
