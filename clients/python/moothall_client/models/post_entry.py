from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PostEntry")


@_attrs_define
class PostEntry:
    """The post by which computers reach each other: a Redis.

    Attributes:
        address (str): Its address, without a password.
        cure (None | str | Unset): The next step for people, if there is one.
        eviction (None | str | Unset): Its `maxmemory-policy`, if it tells it.
        fault (None | str | Unset): The reason for which it cannot be reached; `null` if it can.
        persistence (None | str | Unset): The part of its memory that it keeps over a restart: `commands` (all of it),
            `snapshots` or
            `nothing`; `null` if it does not tell. Nothing here depends on it.
        round_trip_ms (int | None | Unset): Time of one round trip, in milliseconds.
    """

    address: str
    cure: None | str | Unset = UNSET
    eviction: None | str | Unset = UNSET
    fault: None | str | Unset = UNSET
    persistence: None | str | Unset = UNSET
    round_trip_ms: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        address = self.address

        cure: None | str | Unset
        if isinstance(self.cure, Unset):
            cure = UNSET
        else:
            cure = self.cure

        eviction: None | str | Unset
        if isinstance(self.eviction, Unset):
            eviction = UNSET
        else:
            eviction = self.eviction

        fault: None | str | Unset
        if isinstance(self.fault, Unset):
            fault = UNSET
        else:
            fault = self.fault

        persistence: None | str | Unset
        if isinstance(self.persistence, Unset):
            persistence = UNSET
        else:
            persistence = self.persistence

        round_trip_ms: int | None | Unset
        if isinstance(self.round_trip_ms, Unset):
            round_trip_ms = UNSET
        else:
            round_trip_ms = self.round_trip_ms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "address": address,
            }
        )
        if cure is not UNSET:
            field_dict["cure"] = cure
        if eviction is not UNSET:
            field_dict["eviction"] = eviction
        if fault is not UNSET:
            field_dict["fault"] = fault
        if persistence is not UNSET:
            field_dict["persistence"] = persistence
        if round_trip_ms is not UNSET:
            field_dict["round_trip_ms"] = round_trip_ms

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        address = d.pop("address")

        def _parse_cure(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cure = _parse_cure(d.pop("cure", UNSET))

        def _parse_eviction(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        eviction = _parse_eviction(d.pop("eviction", UNSET))

        def _parse_fault(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        fault = _parse_fault(d.pop("fault", UNSET))

        def _parse_persistence(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        persistence = _parse_persistence(d.pop("persistence", UNSET))

        def _parse_round_trip_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        round_trip_ms = _parse_round_trip_ms(d.pop("round_trip_ms", UNSET))

        post_entry = cls(
            address=address,
            cure=cure,
            eviction=eviction,
            fault=fault,
            persistence=persistence,
            round_trip_ms=round_trip_ms,
        )

        post_entry.additional_properties = d
        return post_entry

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
