from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.forecast_entry import ForecastEntry
    from ..models.no_agent_asked import NoAgentAsked


T = TypeVar("T", bound="Preview")


@_attrs_define
class Preview:
    """Answer of `POST /threads/{id}/preview`.

    Attributes:
        forecast (list[ForecastEntry]): Every invited agent: first those that would be asked, in the order in which they
            would be
            asked.
        stray (NoAgentAsked | None | Unset):
        unasked (NoAgentAsked | None | Unset):
    """

    forecast: list[ForecastEntry]
    stray: NoAgentAsked | None | Unset = UNSET
    unasked: NoAgentAsked | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.no_agent_asked import NoAgentAsked  # noqa: PLC0415

        forecast = []
        for forecast_item_data in self.forecast:
            forecast_item = forecast_item_data.to_dict()
            forecast.append(forecast_item)

        stray: dict[str, Any] | None | Unset
        if isinstance(self.stray, Unset):
            stray = UNSET
        elif isinstance(self.stray, NoAgentAsked):
            stray = self.stray.to_dict()
        else:
            stray = self.stray

        unasked: dict[str, Any] | None | Unset
        if isinstance(self.unasked, Unset):
            unasked = UNSET
        elif isinstance(self.unasked, NoAgentAsked):
            unasked = self.unasked.to_dict()
        else:
            unasked = self.unasked

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "forecast": forecast,
            }
        )
        if stray is not UNSET:
            field_dict["stray"] = stray
        if unasked is not UNSET:
            field_dict["unasked"] = unasked

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.forecast_entry import ForecastEntry  # noqa: PLC0415
        from ..models.no_agent_asked import NoAgentAsked  # noqa: PLC0415

        d = dict(src_dict)
        forecast = []
        _forecast = d.pop("forecast")
        for forecast_item_data in _forecast:
            forecast_item = ForecastEntry.from_dict(forecast_item_data)

            forecast.append(forecast_item)

        def _parse_stray(data: object) -> NoAgentAsked | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                stray_type_0 = NoAgentAsked.from_dict(data)

                return stray_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(NoAgentAsked | None | Unset, data)

        stray = _parse_stray(d.pop("stray", UNSET))

        def _parse_unasked(data: object) -> NoAgentAsked | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                unasked_type_0 = NoAgentAsked.from_dict(data)

                return unasked_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(NoAgentAsked | None | Unset, data)

        unasked = _parse_unasked(d.pop("unasked", UNSET))

        preview = cls(
            forecast=forecast,
            stray=stray,
            unasked=unasked,
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
