from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.error_detail import ErrorDetail
    from ..models.hall_sessions import HallSessions
    from ..models.need_entry import NeedEntry
    from ..models.occupation_entry import OccupationEntry
    from ..models.thread_entry import ThreadEntry
    from ..models.who_am_i import WhoAmI


T = TypeVar("T", bound="HallStart")


@_attrs_define
class HallStart:
    """Answer of `GET /start`: what a client shows first.

    Attributes:
        needs (list[NeedEntry]): The needs of the reader, as in `GET /needs`.
        session (WhoAmI): Answer of `GET /session` and `POST /session`: the caller and its rights.
        states (list[OccupationEntry]): The states of the participants that do something, as in `GET /states`.
        threads (list[ThreadEntry]): The threads, in the order in which they were created. `read`, `unread` and `direct`
            are
            those of the caller, or of `user` without a credential.
        next_ (int | None | Unset): Value of `after` of `GET /threads` for further threads; absent if there are none.
        no_sessions (ErrorDetail | None | Unset):
        sessions (HallSessions | None | Unset):
    """

    needs: list[NeedEntry]
    session: WhoAmI
    states: list[OccupationEntry]
    threads: list[ThreadEntry]
    next_: int | None | Unset = UNSET
    no_sessions: ErrorDetail | None | Unset = UNSET
    sessions: HallSessions | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.error_detail import ErrorDetail  # noqa: PLC0415
        from ..models.hall_sessions import HallSessions  # noqa: PLC0415

        needs = []
        for needs_item_data in self.needs:
            needs_item = needs_item_data.to_dict()
            needs.append(needs_item)

        session = self.session.to_dict()

        states = []
        for states_item_data in self.states:
            states_item = states_item_data.to_dict()
            states.append(states_item)

        threads = []
        for threads_item_data in self.threads:
            threads_item = threads_item_data.to_dict()
            threads.append(threads_item)

        next_: int | None | Unset
        if isinstance(self.next_, Unset):
            next_ = UNSET
        else:
            next_ = self.next_

        no_sessions: dict[str, Any] | None | Unset
        if isinstance(self.no_sessions, Unset):
            no_sessions = UNSET
        elif isinstance(self.no_sessions, ErrorDetail):
            no_sessions = self.no_sessions.to_dict()
        else:
            no_sessions = self.no_sessions

        sessions: dict[str, Any] | None | Unset
        if isinstance(self.sessions, Unset):
            sessions = UNSET
        elif isinstance(self.sessions, HallSessions):
            sessions = self.sessions.to_dict()
        else:
            sessions = self.sessions

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "needs": needs,
                "session": session,
                "states": states,
                "threads": threads,
            }
        )
        if next_ is not UNSET:
            field_dict["next"] = next_
        if no_sessions is not UNSET:
            field_dict["no_sessions"] = no_sessions
        if sessions is not UNSET:
            field_dict["sessions"] = sessions

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.error_detail import ErrorDetail  # noqa: PLC0415
        from ..models.hall_sessions import HallSessions  # noqa: PLC0415
        from ..models.need_entry import NeedEntry  # noqa: PLC0415
        from ..models.occupation_entry import OccupationEntry  # noqa: PLC0415
        from ..models.thread_entry import ThreadEntry  # noqa: PLC0415
        from ..models.who_am_i import WhoAmI  # noqa: PLC0415

        d = dict(src_dict)
        needs = []
        _needs = d.pop("needs")
        for needs_item_data in _needs:
            needs_item = NeedEntry.from_dict(needs_item_data)

            needs.append(needs_item)

        session = WhoAmI.from_dict(d.pop("session"))

        states = []
        _states = d.pop("states")
        for states_item_data in _states:
            states_item = OccupationEntry.from_dict(states_item_data)

            states.append(states_item)

        threads = []
        _threads = d.pop("threads")
        for threads_item_data in _threads:
            threads_item = ThreadEntry.from_dict(threads_item_data)

            threads.append(threads_item)

        def _parse_next_(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        next_ = _parse_next_(d.pop("next", UNSET))

        def _parse_no_sessions(data: object) -> ErrorDetail | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                no_sessions_type_0 = ErrorDetail.from_dict(data)

                return no_sessions_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ErrorDetail | None | Unset, data)

        no_sessions = _parse_no_sessions(d.pop("no_sessions", UNSET))

        def _parse_sessions(data: object) -> HallSessions | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sessions_type_0 = HallSessions.from_dict(data)

                return sessions_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(HallSessions | None | Unset, data)

        sessions = _parse_sessions(d.pop("sessions", UNSET))

        hall_start = cls(
            needs=needs,
            session=session,
            states=states,
            threads=threads,
            next_=next_,
            no_sessions=no_sessions,
            sessions=sessions,
        )

        hall_start.additional_properties = d
        return hall_start

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
