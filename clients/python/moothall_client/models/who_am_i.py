from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.principal_ref import PrincipalRef


T = TypeVar("T", bound="WhoAmI")


@_attrs_define
class WhoAmI:
    """Answer of `GET /session` and `POST /session`: the caller and its rights.

    Attributes:
        mode (str): `local`: conversations need no credential. `token`: every request needs one.
        scopes (list[str]): Scopes of the caller, e.g. `threads:read`.
        expires_at (None | str | Unset): Time at which the credential expires. `null` without a credential, or if its
            end is not
            known yet.
        principal (None | PrincipalRef | Unset):
        threads (list[str] | None | Unset): Ids of the threads that the caller reaches; `null` stands for all.
        token (None | str | Unset): Id of the credential; `null` without a credential.
    """

    mode: str
    scopes: list[str]
    expires_at: None | str | Unset = UNSET
    principal: None | PrincipalRef | Unset = UNSET
    threads: list[str] | None | Unset = UNSET
    token: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.principal_ref import PrincipalRef  # noqa: PLC0415

        mode = self.mode

        scopes = self.scopes

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = self.expires_at

        principal: dict[str, Any] | None | Unset
        if isinstance(self.principal, Unset):
            principal = UNSET
        elif isinstance(self.principal, PrincipalRef):
            principal = self.principal.to_dict()
        else:
            principal = self.principal

        threads: list[str] | None | Unset
        if isinstance(self.threads, Unset):
            threads = UNSET
        elif isinstance(self.threads, list):
            threads = self.threads

        else:
            threads = self.threads

        token: None | str | Unset
        if isinstance(self.token, Unset):
            token = UNSET
        else:
            token = self.token

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "mode": mode,
                "scopes": scopes,
            }
        )
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if principal is not UNSET:
            field_dict["principal"] = principal
        if threads is not UNSET:
            field_dict["threads"] = threads
        if token is not UNSET:
            field_dict["token"] = token

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.principal_ref import PrincipalRef  # noqa: PLC0415

        d = dict(src_dict)
        mode = d.pop("mode")

        scopes = cast(list[str], d.pop("scopes"))

        def _parse_expires_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        def _parse_principal(data: object) -> None | PrincipalRef | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                principal_type_0 = PrincipalRef.from_dict(data)

                return principal_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PrincipalRef | Unset, data)

        principal = _parse_principal(d.pop("principal", UNSET))

        def _parse_threads(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                threads_type_0 = cast(list[str], data)

                return threads_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        threads = _parse_threads(d.pop("threads", UNSET))

        def _parse_token(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        token = _parse_token(d.pop("token", UNSET))

        who_am_i = cls(
            mode=mode,
            scopes=scopes,
            expires_at=expires_at,
            principal=principal,
            threads=threads,
            token=token,
        )

        who_am_i.additional_properties = d
        return who_am_i

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
