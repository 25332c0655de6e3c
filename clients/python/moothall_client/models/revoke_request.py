from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RevokeRequest")


@_attrs_define
class RevokeRequest:
    """Body of `POST /tokens/{id}/revoke`.

    Attributes:
        with_children (bool | None | Unset): True to also revoke the tokens that came from its invitations, and from
            theirs in turn.
    """

    with_children: bool | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        with_children: bool | None | Unset
        if isinstance(self.with_children, Unset):
            with_children = UNSET
        else:
            with_children = self.with_children

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if with_children is not UNSET:
            field_dict["with_children"] = with_children

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_with_children(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        with_children = _parse_with_children(d.pop("with_children", UNSET))

        revoke_request = cls(
            with_children=with_children,
        )

        return revoke_request
