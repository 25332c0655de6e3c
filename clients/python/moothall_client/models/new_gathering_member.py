from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="NewGatheringMember")


@_attrs_define
class NewGatheringMember:
    """A future participant of a gathering.

    Attributes:
        kind (str): Kind of the participant. `session`: a living session. `agent`: an agent of the registry,
            started for the gathering if it runs in a terminal. `human`: a person. Required.
        name (str): Name for the other participants. Required.
        number (int): Number of the participant, from 1. Speakers hold the piece in the order of their numbers.
            Required.
        args (list[str] | Unset): For a started agent: additional arguments for its program.
        client (None | str | Unset): For `agent`: its name in the registry.
        computer (None | str | Unset): Computer of the participant. Only the server's own is known yet: absent, or
            `local`.
        cwd (None | str | Unset): For a started agent: absolute path of the working folder; the agent's own if absent.
        model (None | str | Unset): For an agent: name of the model, which a program in a terminal gets as `--model`;
            the
            agent's own model if absent.
        participant_id (None | str | Unset): For a person: id under which the person speaks. Without an id, the first
            person is the one
            who begins the gathering, or `user` if an agent begins it. The others get an id made from
            their names.
        role (None | str | Unset): `speaker`, or `harvester`, who listens and writes the harvest; `speaker` if absent.
        session_id (None | str | Unset): For `session`: its id, the beginning of its id, or its name.
    """

    kind: str
    name: str
    number: int
    args: list[str] | Unset = UNSET
    client: None | str | Unset = UNSET
    computer: None | str | Unset = UNSET
    cwd: None | str | Unset = UNSET
    model: None | str | Unset = UNSET
    participant_id: None | str | Unset = UNSET
    role: None | str | Unset = UNSET
    session_id: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        name = self.name

        number = self.number

        args: list[str] | Unset = UNSET
        if not isinstance(self.args, Unset):
            args = self.args

        client: None | str | Unset
        if isinstance(self.client, Unset):
            client = UNSET
        else:
            client = self.client

        computer: None | str | Unset
        if isinstance(self.computer, Unset):
            computer = UNSET
        else:
            computer = self.computer

        cwd: None | str | Unset
        if isinstance(self.cwd, Unset):
            cwd = UNSET
        else:
            cwd = self.cwd

        model: None | str | Unset
        if isinstance(self.model, Unset):
            model = UNSET
        else:
            model = self.model

        participant_id: None | str | Unset
        if isinstance(self.participant_id, Unset):
            participant_id = UNSET
        else:
            participant_id = self.participant_id

        role: None | str | Unset
        if isinstance(self.role, Unset):
            role = UNSET
        else:
            role = self.role

        session_id: None | str | Unset
        if isinstance(self.session_id, Unset):
            session_id = UNSET
        else:
            session_id = self.session_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "name": name,
                "number": number,
            }
        )
        if args is not UNSET:
            field_dict["args"] = args
        if client is not UNSET:
            field_dict["client"] = client
        if computer is not UNSET:
            field_dict["computer"] = computer
        if cwd is not UNSET:
            field_dict["cwd"] = cwd
        if model is not UNSET:
            field_dict["model"] = model
        if participant_id is not UNSET:
            field_dict["participant_id"] = participant_id
        if role is not UNSET:
            field_dict["role"] = role
        if session_id is not UNSET:
            field_dict["session_id"] = session_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = d.pop("kind")

        name = d.pop("name")

        number = d.pop("number")

        args = cast(list[str], d.pop("args", UNSET))

        def _parse_client(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        client = _parse_client(d.pop("client", UNSET))

        def _parse_computer(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        computer = _parse_computer(d.pop("computer", UNSET))

        def _parse_cwd(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cwd = _parse_cwd(d.pop("cwd", UNSET))

        def _parse_model(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        model = _parse_model(d.pop("model", UNSET))

        def _parse_participant_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        participant_id = _parse_participant_id(d.pop("participant_id", UNSET))

        def _parse_role(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        role = _parse_role(d.pop("role", UNSET))

        def _parse_session_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        session_id = _parse_session_id(d.pop("session_id", UNSET))

        new_gathering_member = cls(
            kind=kind,
            name=name,
            number=number,
            args=args,
            client=client,
            computer=computer,
            cwd=cwd,
            model=model,
            participant_id=participant_id,
            role=role,
            session_id=session_id,
        )

        return new_gathering_member
