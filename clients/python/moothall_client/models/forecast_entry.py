from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ForecastEntry")


@_attrs_define
class ForecastEntry:
    """The forecast for one agent.

    Attributes:
        participant (str): Id of the agent.
        reason (None | str | Unset): The reason as a phrase for people, which follows the agent's name.
        why (None | str | Unset): Reason why the agent would be asked; absent if it would not.
        why_not (None | str | Unset): Reason why the agent would not be asked; absent if it would.
    """

    participant: str
    reason: None | str | Unset = UNSET
    why: None | str | Unset = UNSET
    why_not: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        participant = self.participant

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        why: None | str | Unset
        if isinstance(self.why, Unset):
            why = UNSET
        else:
            why = self.why

        why_not: None | str | Unset
        if isinstance(self.why_not, Unset):
            why_not = UNSET
        else:
            why_not = self.why_not

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "participant": participant,
            }
        )
        if reason is not UNSET:
            field_dict["reason"] = reason
        if why is not UNSET:
            field_dict["why"] = why
        if why_not is not UNSET:
            field_dict["why_not"] = why_not

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        participant = d.pop("participant")

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        def _parse_why(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        why = _parse_why(d.pop("why", UNSET))

        def _parse_why_not(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        why_not = _parse_why_not(d.pop("why_not", UNSET))

        forecast_entry = cls(
            participant=participant,
            reason=reason,
            why=why,
            why_not=why_not,
        )

        forecast_entry.additional_properties = d
        return forecast_entry

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
