from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.principal_ref import PrincipalRef


T = TypeVar("T", bound="TokenCreated")


@_attrs_define
class TokenCreated:
    """Answer of `POST /tokens`.

    Attributes:
        created_at (str): Time at which the token was created.
        expires_at (str): Time at which the token expires.
        id (str): Public id of the token, for lists, revocation and audit.
        kind (str): `personal`, `agent`, `session`, `invitation`, `pairing` or `account`.
        label (str): Label of the token, for people.
        principal (PrincipalRef): A person or agent known to the server.
        scopes (list[str]): Scopes of the token, e.g. `threads:read`.
        token (str): The token itself. It is shown only this once.
        last_used_at (None | str | Unset): Time of the last use, to the minute; `null` if the token was never used.
        parent (None | str | Unset): Id of the credential from which this one was made: the one a browser signed in
            with, or the
            inviter's. `null` if there is none.
        revoked_at (None | str | Unset): Time of the revocation; `null` if the token is not revoked.
        threads (list[str] | None | Unset): Ids of the only threads that the token reaches; `null` stands for all.
    """

    created_at: str
    expires_at: str
    id: str
    kind: str
    label: str
    principal: PrincipalRef
    scopes: list[str]
    token: str
    last_used_at: None | str | Unset = UNSET
    parent: None | str | Unset = UNSET
    revoked_at: None | str | Unset = UNSET
    threads: list[str] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at

        expires_at = self.expires_at

        id = self.id

        kind = self.kind

        label = self.label

        principal = self.principal.to_dict()

        scopes = self.scopes

        token = self.token

        last_used_at: None | str | Unset
        if isinstance(self.last_used_at, Unset):
            last_used_at = UNSET
        else:
            last_used_at = self.last_used_at

        parent: None | str | Unset
        if isinstance(self.parent, Unset):
            parent = UNSET
        else:
            parent = self.parent

        revoked_at: None | str | Unset
        if isinstance(self.revoked_at, Unset):
            revoked_at = UNSET
        else:
            revoked_at = self.revoked_at

        threads: list[str] | None | Unset
        if isinstance(self.threads, Unset):
            threads = UNSET
        elif isinstance(self.threads, list):
            threads = self.threads

        else:
            threads = self.threads

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created_at": created_at,
                "expires_at": expires_at,
                "id": id,
                "kind": kind,
                "label": label,
                "principal": principal,
                "scopes": scopes,
                "token": token,
            }
        )
        if last_used_at is not UNSET:
            field_dict["last_used_at"] = last_used_at
        if parent is not UNSET:
            field_dict["parent"] = parent
        if revoked_at is not UNSET:
            field_dict["revoked_at"] = revoked_at
        if threads is not UNSET:
            field_dict["threads"] = threads

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.principal_ref import PrincipalRef  # noqa: PLC0415

        d = dict(src_dict)
        created_at = d.pop("created_at")

        expires_at = d.pop("expires_at")

        id = d.pop("id")

        kind = d.pop("kind")

        label = d.pop("label")

        principal = PrincipalRef.from_dict(d.pop("principal"))

        scopes = cast(list[str], d.pop("scopes"))

        token = d.pop("token")

        def _parse_last_used_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        last_used_at = _parse_last_used_at(d.pop("last_used_at", UNSET))

        def _parse_parent(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        parent = _parse_parent(d.pop("parent", UNSET))

        def _parse_revoked_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        revoked_at = _parse_revoked_at(d.pop("revoked_at", UNSET))

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

        token_created = cls(
            created_at=created_at,
            expires_at=expires_at,
            id=id,
            kind=kind,
            label=label,
            principal=principal,
            scopes=scopes,
            token=token,
            last_used_at=last_used_at,
            parent=parent,
            revoked_at=revoked_at,
            threads=threads,
        )

        token_created.additional_properties = d
        return token_created

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
