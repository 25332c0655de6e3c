from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.token_request_scopes_type_0_item import TokenRequestScopesType0Item
from ..types import UNSET, Unset

T = TypeVar("T", bound="TokenRequest")


@_attrs_define
class TokenRequest:
    """Body of `POST /tokens`.

    Attributes:
        principal (str): Id of the person or agent that the token is for. Required.
        expires_in_days (int | None | Unset): Days until the token expires, 1 to 3650; 90 if absent.
        kind (None | str | Unset): `human` or `agent`; `human` if absent. The kind of a known principal cannot change.
        label (None | str | Unset): Label of the token, for people.
        scopes (list[TokenRequestScopesType0Item] | None | Unset): Scopes of the token; the usual scopes of the kind if
            absent.
        threads (list[str] | None | Unset): Ids of the only threads that the token reaches; all threads if absent.
    """

    principal: str
    expires_in_days: int | None | Unset = UNSET
    kind: None | str | Unset = UNSET
    label: None | str | Unset = UNSET
    scopes: list[TokenRequestScopesType0Item] | None | Unset = UNSET
    threads: list[str] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        principal = self.principal

        expires_in_days: int | None | Unset
        if isinstance(self.expires_in_days, Unset):
            expires_in_days = UNSET
        else:
            expires_in_days = self.expires_in_days

        kind: None | str | Unset
        if isinstance(self.kind, Unset):
            kind = UNSET
        else:
            kind = self.kind

        label: None | str | Unset
        if isinstance(self.label, Unset):
            label = UNSET
        else:
            label = self.label

        scopes: list[str] | None | Unset
        if isinstance(self.scopes, Unset):
            scopes = UNSET
        elif isinstance(self.scopes, list):
            scopes = []
            for scopes_type_0_item_data in self.scopes:
                scopes_type_0_item = scopes_type_0_item_data.value
                scopes.append(scopes_type_0_item)

        else:
            scopes = self.scopes

        threads: list[str] | None | Unset
        if isinstance(self.threads, Unset):
            threads = UNSET
        elif isinstance(self.threads, list):
            threads = self.threads

        else:
            threads = self.threads

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "principal": principal,
            }
        )
        if expires_in_days is not UNSET:
            field_dict["expires_in_days"] = expires_in_days
        if kind is not UNSET:
            field_dict["kind"] = kind
        if label is not UNSET:
            field_dict["label"] = label
        if scopes is not UNSET:
            field_dict["scopes"] = scopes
        if threads is not UNSET:
            field_dict["threads"] = threads

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        principal = d.pop("principal")

        def _parse_expires_in_days(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        expires_in_days = _parse_expires_in_days(d.pop("expires_in_days", UNSET))

        def _parse_kind(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        kind = _parse_kind(d.pop("kind", UNSET))

        def _parse_label(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        label = _parse_label(d.pop("label", UNSET))

        def _parse_scopes(
            data: object,
        ) -> list[TokenRequestScopesType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                scopes_type_0 = []
                _scopes_type_0 = data
                for scopes_type_0_item_data in _scopes_type_0:
                    scopes_type_0_item = TokenRequestScopesType0Item(
                        scopes_type_0_item_data
                    )

                    scopes_type_0.append(scopes_type_0_item)

                return scopes_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[TokenRequestScopesType0Item] | None | Unset, data)

        scopes = _parse_scopes(d.pop("scopes", UNSET))

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

        token_request = cls(
            principal=principal,
            expires_in_days=expires_in_days,
            kind=kind,
            label=label,
            scopes=scopes,
            threads=threads,
        )

        return token_request
