from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.program_entry import ProgramEntry
    from ..models.session_entry import SessionEntry
    from ..models.silent_computer import SilentComputer


T = TypeVar("T", bound="SessionList")


@_attrs_define
class SessionList:
    """Answer of `GET /sessions`.

    Attributes:
        programs (list[ProgramEntry]): The programs that can be started.
        sessions (list[SessionEntry]): The sessions, in the order in which they began.
        silent (list[SilentComputer] | Unset): The computers whose sessions are not known now.
    """

    programs: list[ProgramEntry]
    sessions: list[SessionEntry]
    silent: list[SilentComputer] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        programs = []
        for programs_item_data in self.programs:
            programs_item = programs_item_data.to_dict()
            programs.append(programs_item)

        sessions = []
        for sessions_item_data in self.sessions:
            sessions_item = sessions_item_data.to_dict()
            sessions.append(sessions_item)

        silent: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.silent, Unset):
            silent = []
            for silent_item_data in self.silent:
                silent_item = silent_item_data.to_dict()
                silent.append(silent_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "programs": programs,
                "sessions": sessions,
            }
        )
        if silent is not UNSET:
            field_dict["silent"] = silent

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.program_entry import ProgramEntry  # noqa: PLC0415
        from ..models.session_entry import SessionEntry  # noqa: PLC0415
        from ..models.silent_computer import SilentComputer  # noqa: PLC0415

        d = dict(src_dict)
        programs = []
        _programs = d.pop("programs")
        for programs_item_data in _programs:
            programs_item = ProgramEntry.from_dict(programs_item_data)

            programs.append(programs_item)

        sessions = []
        _sessions = d.pop("sessions")
        for sessions_item_data in _sessions:
            sessions_item = SessionEntry.from_dict(sessions_item_data)

            sessions.append(sessions_item)

        _silent = d.pop("silent", UNSET)
        silent: list[SilentComputer] | Unset = UNSET
        if _silent is not UNSET:
            silent = []
            for silent_item_data in _silent:
                silent_item = SilentComputer.from_dict(silent_item_data)

                silent.append(silent_item)

        session_list = cls(
            programs=programs,
            sessions=sessions,
            silent=silent,
        )

        session_list.additional_properties = d
        return session_list

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
