from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.forecast_entry import ForecastEntry


T = TypeVar("T", bound="Preview")


@_attrs_define
class Preview:
    """Answer of `POST /threads/{id}/preview`.

    Attributes:
        forecast (list[ForecastEntry]): Every invited agent: those who would be asked first, in the order in which they
            would be.
    """

    forecast: list[ForecastEntry]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        forecast = []
        for forecast_item_data in self.forecast:
            forecast_item = forecast_item_data.to_dict()
            forecast.append(forecast_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "forecast": forecast,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.forecast_entry import ForecastEntry  # noqa: PLC0415

        d = dict(src_dict)
        forecast = []
        _forecast = d.pop("forecast")
        for forecast_item_data in _forecast:
            forecast_item = ForecastEntry.from_dict(forecast_item_data)

            forecast.append(forecast_item)

        preview = cls(
            forecast=forecast,
        )

        preview.additional_properties = d
        return preview

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
