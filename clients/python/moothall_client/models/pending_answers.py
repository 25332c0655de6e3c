from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PendingAnswers")


@_attrs_define
class PendingAnswers:
    """The answers to a message that are still to come.

    Attributes:
        may (list[str]): Ids of the agents that may answer.
        must (list[str]): Ids of the agents that must answer.
        waits (bool): True if the message waits for earlier messages.
    """

    may: list[str]
    must: list[str]
    waits: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        may = self.may

        must = self.must

        waits = self.waits

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "may": may,
                "must": must,
                "waits": waits,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        may = cast(list[str], d.pop("may"))

        must = cast(list[str], d.pop("must"))

        waits = d.pop("waits")

        pending_answers = cls(
            may=may,
            must=must,
            waits=waits,
        )

        pending_answers.additional_properties = d
        return pending_answers

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
