from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WireUsage")


@_attrs_define
class WireUsage:
    """Time, tokens and money used by a turn.

    Attributes:
        cost_micros (int): Cost in millionths of the currency of the configured prices.
        input_tokens (int): Number of tokens that models read for the turn.
        output_tokens (int): Number of tokens that models wrote for the turn.
        seconds (float): Seconds from start to end.
    """

    cost_micros: int
    input_tokens: int
    output_tokens: int
    seconds: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cost_micros = self.cost_micros

        input_tokens = self.input_tokens

        output_tokens = self.output_tokens

        seconds = self.seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cost_micros": cost_micros,
                "input_tokens": input_tokens,
                "output_tokens": output_tokens,
                "seconds": seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        cost_micros = d.pop("cost_micros")

        input_tokens = d.pop("input_tokens")

        output_tokens = d.pop("output_tokens")

        seconds = d.pop("seconds")

        wire_usage = cls(
            cost_micros=cost_micros,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            seconds=seconds,
        )

        wire_usage.additional_properties = d
        return wire_usage

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
