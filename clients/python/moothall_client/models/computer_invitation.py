from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ComputerInvitation")


@_attrs_define
class ComputerInvitation:
    """Body of `POST /computers/invitations`.

    Attributes:
        name (None | str | Unset): Name of this computer for others: 1 to 32 of `a-z 0-9 -`. That of the machine by
            default.
        redis (None | str | Unset): Address of the Redis at which the computers meet, such as `redis://host`. Needed the
            first
            time.
        up (int | None | Unset): The share of time in which this computer is up: 1 for always, 9 for rarely; 5 by
            default. It
            is part of the id, so only the first request sets it.
    """

    name: None | str | Unset = UNSET
    redis: None | str | Unset = UNSET
    up: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        redis: None | str | Unset
        if isinstance(self.redis, Unset):
            redis = UNSET
        else:
            redis = self.redis

        up: int | None | Unset
        if isinstance(self.up, Unset):
            up = UNSET
        else:
            up = self.up

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
        if redis is not UNSET:
            field_dict["redis"] = redis
        if up is not UNSET:
            field_dict["up"] = up

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_redis(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        redis = _parse_redis(d.pop("redis", UNSET))

        def _parse_up(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        up = _parse_up(d.pop("up", UNSET))

        computer_invitation = cls(
            name=name,
            redis=redis,
            up=up,
        )

        return computer_invitation
