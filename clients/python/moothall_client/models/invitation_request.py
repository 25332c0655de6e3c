from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.invitation_request_scopes_type_0_item import (
    InvitationRequestScopesType0Item,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="InvitationRequest")


@_attrs_define
class InvitationRequest:
    """Body of `POST /threads/{id}/invitations` and `POST /invitations`.

    Attributes:
        principal (str): Id under which the invited person or agent will take part. Required.
        expires_in_hours (int | None | Unset): Hours until the invitation expires, 1 to 168; 24 if absent.
        kind (None | str | Unset): `human` or `agent`; `human` if absent.
        scopes (list[InvitationRequestScopesType0Item] | None | Unset): Scopes of the future token; the inviter must
            have each of them. If absent, the usual scopes
            of the kind that the inviter has.
    """

    principal: str
    expires_in_hours: int | None | Unset = UNSET
    kind: None | str | Unset = UNSET
    scopes: list[InvitationRequestScopesType0Item] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        principal = self.principal

        expires_in_hours: int | None | Unset
        if isinstance(self.expires_in_hours, Unset):
            expires_in_hours = UNSET
        else:
            expires_in_hours = self.expires_in_hours

        kind: None | str | Unset
        if isinstance(self.kind, Unset):
            kind = UNSET
        else:
            kind = self.kind

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

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "principal": principal,
            }
        )
        if expires_in_hours is not UNSET:
            field_dict["expires_in_hours"] = expires_in_hours
        if kind is not UNSET:
            field_dict["kind"] = kind
        if scopes is not UNSET:
            field_dict["scopes"] = scopes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        principal = d.pop("principal")

        def _parse_expires_in_hours(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        expires_in_hours = _parse_expires_in_hours(d.pop("expires_in_hours", UNSET))

        def _parse_kind(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        kind = _parse_kind(d.pop("kind", UNSET))

        def _parse_scopes(
            data: object,
        ) -> list[InvitationRequestScopesType0Item] | None | Unset:
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
                    scopes_type_0_item = InvitationRequestScopesType0Item(
                        scopes_type_0_item_data
                    )

                    scopes_type_0.append(scopes_type_0_item)

                return scopes_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[InvitationRequestScopesType0Item] | None | Unset, data)

        scopes = _parse_scopes(d.pop("scopes", UNSET))

        invitation_request = cls(
            principal=principal,
            expires_in_hours=expires_in_hours,
            kind=kind,
            scopes=scopes,
        )

        return invitation_request
