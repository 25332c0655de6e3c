from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AuditRow")


@_attrs_define
class AuditRow:
    """One row of the audit record.

    Attributes:
        at (str): Time of the deed: RFC 3339, UTC, milliseconds.
        deed (str): `signed_in`, `signed_out`, `token_created`, `token_revoked`, `invited`, `accepted`,
            `registered`, `claimed`, `budget_raised`, `chat_bound`, `chat_unbound` or `denied`.
        detail (str): Further details, in a few words.
        number (int): Number of the row, rising by one with each row.
        about (None | str | Unset): Id of another credential that the deed was about; `null` if there is none.
        by (None | str | Unset): Id of the person or agent that did it; `null` if not proven.
        token (None | str | Unset): Id of the credential that was used; `null` without one.
    """

    at: str
    deed: str
    detail: str
    number: int
    about: None | str | Unset = UNSET
    by: None | str | Unset = UNSET
    token: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at

        deed = self.deed

        detail = self.detail

        number = self.number

        about: None | str | Unset
        if isinstance(self.about, Unset):
            about = UNSET
        else:
            about = self.about

        by: None | str | Unset
        if isinstance(self.by, Unset):
            by = UNSET
        else:
            by = self.by

        token: None | str | Unset
        if isinstance(self.token, Unset):
            token = UNSET
        else:
            token = self.token

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "deed": deed,
                "detail": detail,
                "number": number,
            }
        )
        if about is not UNSET:
            field_dict["about"] = about
        if by is not UNSET:
            field_dict["by"] = by
        if token is not UNSET:
            field_dict["token"] = token

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = d.pop("at")

        deed = d.pop("deed")

        detail = d.pop("detail")

        number = d.pop("number")

        def _parse_about(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        about = _parse_about(d.pop("about", UNSET))

        def _parse_by(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        by = _parse_by(d.pop("by", UNSET))

        def _parse_token(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        token = _parse_token(d.pop("token", UNSET))

        audit_row = cls(
            at=at,
            deed=deed,
            detail=detail,
            number=number,
            about=about,
            by=by,
            token=token,
        )

        audit_row.additional_properties = d
        return audit_row

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
