from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RegistrationRefused")


@_attrs_define
class RegistrationRefused:
    """A rejected registration or claim.

    Attributes:
        error (str): Cause of the rejection, in one sentence.
        code (None | str | Unset): Stable code of the cause; absent if there is none.
        detail (None | str | Unset): The faulty field and the values it takes; absent if no field is at fault.
    """

    error: str
    code: None | str | Unset = UNSET
    detail: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        error = self.error

        code: None | str | Unset
        if isinstance(self.code, Unset):
            code = UNSET
        else:
            code = self.code

        detail: None | str | Unset
        if isinstance(self.detail, Unset):
            detail = UNSET
        else:
            detail = self.detail

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "error": error,
            }
        )
        if code is not UNSET:
            field_dict["code"] = code
        if detail is not UNSET:
            field_dict["detail"] = detail

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        error = d.pop("error")

        def _parse_code(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        code = _parse_code(d.pop("code", UNSET))

        def _parse_detail(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        detail = _parse_detail(d.pop("detail", UNSET))

        registration_refused = cls(
            error=error,
            code=code,
            detail=detail,
        )

        return registration_refused
