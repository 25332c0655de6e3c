from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.budget_entry import BudgetEntry
    from ..models.usage_row import UsageRow


T = TypeVar("T", bound="UsageAnswer")


@_attrs_define
class UsageAnswer:
    """Answer of `GET /usage`.

    Attributes:
        budgets (list[BudgetEntry]): The budgets with limits: the hall's, and those of the requested thread and agent.
        currency (str): Currency of all costs, as an ISO 4217 code.
        rows (list[UsageRow]): Sums for each agent, thread or day, if `by` asks for them: highest cost first, or newest
            day
            first.
        total (UsageRow): A sum of the usage of turns.
    """

    budgets: list[BudgetEntry]
    currency: str
    rows: list[UsageRow]
    total: UsageRow
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        budgets = []
        for budgets_item_data in self.budgets:
            budgets_item = budgets_item_data.to_dict()
            budgets.append(budgets_item)

        currency = self.currency

        rows = []
        for rows_item_data in self.rows:
            rows_item = rows_item_data.to_dict()
            rows.append(rows_item)

        total = self.total.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "budgets": budgets,
                "currency": currency,
                "rows": rows,
                "total": total,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.budget_entry import BudgetEntry  # noqa: PLC0415
        from ..models.usage_row import UsageRow  # noqa: PLC0415

        d = dict(src_dict)
        budgets = []
        _budgets = d.pop("budgets")
        for budgets_item_data in _budgets:
            budgets_item = BudgetEntry.from_dict(budgets_item_data)

            budgets.append(budgets_item)

        currency = d.pop("currency")

        rows = []
        _rows = d.pop("rows")
        for rows_item_data in _rows:
            rows_item = UsageRow.from_dict(rows_item_data)

            rows.append(rows_item)

        total = UsageRow.from_dict(d.pop("total"))

        usage_answer = cls(
            budgets=budgets,
            currency=currency,
            rows=rows,
            total=total,
        )

        usage_answer.additional_properties = d
        return usage_answer

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
