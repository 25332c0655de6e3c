from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="WireProfile")


@_attrs_define
class WireProfile:
    """The profile of a participant, from its invites.

    Attributes:
        client (None | str | Unset): Name of the registry entry that answers for the participant, or any other word for
            an
            external program. Required at the first invite.
        model (None | str | Unset): Name of the model. Required at the first invite of an agent.
        nickname (None | str | Unset): Name for people, unique in its thread. `""` or `null` removes the present one.
        roles (list[str] | None | Unset): Names that the participant shares with others. `[]` or `null` removes the
            present ones.
        session (None | str | Unset): Id or name of the session that takes part: it is prompted in its terminal.
            `client`, `model`
            and the participant's id may then be absent.
    """

    client: None | str | Unset = UNSET
    model: None | str | Unset = UNSET
    nickname: None | str | Unset = UNSET
    roles: list[str] | None | Unset = UNSET
    session: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        client: None | str | Unset
        if isinstance(self.client, Unset):
            client = UNSET
        else:
            client = self.client

        model: None | str | Unset
        if isinstance(self.model, Unset):
            model = UNSET
        else:
            model = self.model

        nickname: None | str | Unset
        if isinstance(self.nickname, Unset):
            nickname = UNSET
        else:
            nickname = self.nickname

        roles: list[str] | None | Unset
        if isinstance(self.roles, Unset):
            roles = UNSET
        elif isinstance(self.roles, list):
            roles = self.roles

        else:
            roles = self.roles

        session: None | str | Unset
        if isinstance(self.session, Unset):
            session = UNSET
        else:
            session = self.session

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if client is not UNSET:
            field_dict["client"] = client
        if model is not UNSET:
            field_dict["model"] = model
        if nickname is not UNSET:
            field_dict["nickname"] = nickname
        if roles is not UNSET:
            field_dict["roles"] = roles
        if session is not UNSET:
            field_dict["session"] = session

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_client(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        client = _parse_client(d.pop("client", UNSET))

        def _parse_model(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        model = _parse_model(d.pop("model", UNSET))

        def _parse_nickname(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        nickname = _parse_nickname(d.pop("nickname", UNSET))

        def _parse_roles(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                roles_type_0 = cast(list[str], data)

                return roles_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        roles = _parse_roles(d.pop("roles", UNSET))

        def _parse_session(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        session = _parse_session(d.pop("session", UNSET))

        wire_profile = cls(
            client=client,
            model=model,
            nickname=nickname,
            roles=roles,
            session=session,
        )

        return wire_profile
