from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PairingEntry")


@_attrs_define
class PairingEntry:
    """An account of a channel that acts as a person.

    Attributes:
        account (str): The account, such as `telegram:4711`.
        created_at (str): Time at which the account was paired.
        id (str): Id of the pairing, for its end.
        principal (str): The person as whom the account acts.
        scopes (list[str]): Scopes of the account.
        last_used_at (None | str | Unset): Time of the last use, to the minute; `null` if it was never used.
    """

    account: str
    created_at: str
    id: str
    principal: str
    scopes: list[str]
    last_used_at: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        account = self.account

        created_at = self.created_at

        id = self.id

        principal = self.principal

        scopes = self.scopes

        last_used_at: None | str | Unset
        if isinstance(self.last_used_at, Unset):
            last_used_at = UNSET
        else:
            last_used_at = self.last_used_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "account": account,
                "created_at": created_at,
                "id": id,
                "principal": principal,
                "scopes": scopes,
            }
        )
        if last_used_at is not UNSET:
            field_dict["last_used_at"] = last_used_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        account = d.pop("account")

        created_at = d.pop("created_at")

        id = d.pop("id")

        principal = d.pop("principal")

        scopes = cast(list[str], d.pop("scopes"))

        def _parse_last_used_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        last_used_at = _parse_last_used_at(d.pop("last_used_at", UNSET))

        pairing_entry = cls(
            account=account,
            created_at=created_at,
            id=id,
            principal=principal,
            scopes=scopes,
            last_used_at=last_used_at,
        )

        pairing_entry.additional_properties = d
        return pairing_entry

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
