from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="BudgetRaise")


@_attrs_define
class BudgetRaise:
    """Body of `POST /budgets/raise`.

    Attributes:
        budget (str): Kind of owner: `hall`, `agent` or `principal`. A thread's budget is raised by a control in
            the thread.
        cost (float | None | Unset): Additional money a day, in the currency.
        seconds (float | None | Unset): Duration of the raise in seconds; one hour if absent.
        turns (int | None | Unset): Additional turns an hour.
        whose (None | str | Unset): Name of the agent or principal that owns the budget.
    """

    budget: str
    cost: float | None | Unset = UNSET
    seconds: float | None | Unset = UNSET
    turns: int | None | Unset = UNSET
    whose: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        budget = self.budget

        cost: float | None | Unset
        if isinstance(self.cost, Unset):
            cost = UNSET
        else:
            cost = self.cost

        seconds: float | None | Unset
        if isinstance(self.seconds, Unset):
            seconds = UNSET
        else:
            seconds = self.seconds

        turns: int | None | Unset
        if isinstance(self.turns, Unset):
            turns = UNSET
        else:
            turns = self.turns

        whose: None | str | Unset
        if isinstance(self.whose, Unset):
            whose = UNSET
        else:
            whose = self.whose

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "budget": budget,
            }
        )
        if cost is not UNSET:
            field_dict["cost"] = cost
        if seconds is not UNSET:
            field_dict["seconds"] = seconds
        if turns is not UNSET:
            field_dict["turns"] = turns
        if whose is not UNSET:
            field_dict["whose"] = whose

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        budget = d.pop("budget")

        def _parse_cost(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        cost = _parse_cost(d.pop("cost", UNSET))

        def _parse_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        seconds = _parse_seconds(d.pop("seconds", UNSET))

        def _parse_turns(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        turns = _parse_turns(d.pop("turns", UNSET))

        def _parse_whose(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        whose = _parse_whose(d.pop("whose", UNSET))

        budget_raise = cls(
            budget=budget,
            cost=cost,
            seconds=seconds,
            turns=turns,
            whose=whose,
        )

        return budget_raise
