from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ComputerEntry")


@_attrs_define
class ComputerEntry:
    """A computer: this one, or one that is paired with it.

    Attributes:
        id (str): Id of the computer, for good.
        name (str): Name of the computer here. Another computer may call it otherwise.
        owed_to (int): Number of messages and other rows that this computer owes it.
        state (str): `up`, `away`, `refused`, or `off` after a restore.
        this (bool): True for this computer itself.
        clock_ahead_ms (int | None | Unset): Milliseconds by which its clock is ahead of the one here; negative if it is
            behind. It is
            shown, and nothing is judged by it.
        cure (None | str | Unset): The next step for people, if the state needs one.
        last_seen (None | str | Unset): Time at which it was last seen; `null` if it was not since this server started.
        owed_by (int | None | Unset): Number of rows that it owes this computer, as far as it has said; `null` if it has
            said
            nothing since this server started.
        sessions (int | None | Unset): Number of living sessions there; `null` if it is not there, or does not tell.
        version (None | str | Unset): Version of its program; `null` if it has not introduced itself since this server
            started.
    """

    id: str
    name: str
    owed_to: int
    state: str
    this: bool
    clock_ahead_ms: int | None | Unset = UNSET
    cure: None | str | Unset = UNSET
    last_seen: None | str | Unset = UNSET
    owed_by: int | None | Unset = UNSET
    sessions: int | None | Unset = UNSET
    version: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        owed_to = self.owed_to

        state = self.state

        this = self.this

        clock_ahead_ms: int | None | Unset
        if isinstance(self.clock_ahead_ms, Unset):
            clock_ahead_ms = UNSET
        else:
            clock_ahead_ms = self.clock_ahead_ms

        cure: None | str | Unset
        if isinstance(self.cure, Unset):
            cure = UNSET
        else:
            cure = self.cure

        last_seen: None | str | Unset
        if isinstance(self.last_seen, Unset):
            last_seen = UNSET
        else:
            last_seen = self.last_seen

        owed_by: int | None | Unset
        if isinstance(self.owed_by, Unset):
            owed_by = UNSET
        else:
            owed_by = self.owed_by

        sessions: int | None | Unset
        if isinstance(self.sessions, Unset):
            sessions = UNSET
        else:
            sessions = self.sessions

        version: None | str | Unset
        if isinstance(self.version, Unset):
            version = UNSET
        else:
            version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "owed_to": owed_to,
                "state": state,
                "this": this,
            }
        )
        if clock_ahead_ms is not UNSET:
            field_dict["clock_ahead_ms"] = clock_ahead_ms
        if cure is not UNSET:
            field_dict["cure"] = cure
        if last_seen is not UNSET:
            field_dict["last_seen"] = last_seen
        if owed_by is not UNSET:
            field_dict["owed_by"] = owed_by
        if sessions is not UNSET:
            field_dict["sessions"] = sessions
        if version is not UNSET:
            field_dict["version"] = version

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        owed_to = d.pop("owed_to")

        state = d.pop("state")

        this = d.pop("this")

        def _parse_clock_ahead_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        clock_ahead_ms = _parse_clock_ahead_ms(d.pop("clock_ahead_ms", UNSET))

        def _parse_cure(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cure = _parse_cure(d.pop("cure", UNSET))

        def _parse_last_seen(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        last_seen = _parse_last_seen(d.pop("last_seen", UNSET))

        def _parse_owed_by(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        owed_by = _parse_owed_by(d.pop("owed_by", UNSET))

        def _parse_sessions(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        sessions = _parse_sessions(d.pop("sessions", UNSET))

        def _parse_version(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        version = _parse_version(d.pop("version", UNSET))

        computer_entry = cls(
            id=id,
            name=name,
            owed_to=owed_to,
            state=state,
            this=this,
            clock_ahead_ms=clock_ahead_ms,
            cure=cure,
            last_seen=last_seen,
            owed_by=owed_by,
            sessions=sessions,
            version=version,
        )

        computer_entry.additional_properties = d
        return computer_entry

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
