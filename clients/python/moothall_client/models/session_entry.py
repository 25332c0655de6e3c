from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.occupation_entry import OccupationEntry
    from ..models.session_end import SessionEnd


T = TypeVar("T", bound="SessionEntry")


@_attrs_define
class SessionEntry:
    """A session: one run of a program in a terminal.

    Attributes:
        client (str): Name of the program: a client of the registry.
        cwd (str): Working folder of the program.
        id (str): Id of the session and of its home, the thread with the messages to this session alone.
        name (str): Name of the session.
        origin (str): `started` by this server, or `observed`: a program without hooks, whose words are read from
            its screen alone.
        started_at (str): Time at which the session began.
        state (str): State of the session: `starting`, `idle`, `drafting`, `busy`, `asking` or `ended`.
        waiting (int): Number of turns that wait for the session.
        computer (None | str | Unset): Name of the session's computer; absent for the server's own.
        doing (None | OccupationEntry | Unset):
        ended (None | SessionEnd | Unset):
        native (None | str | Unset): The program's own id for the session; absent until it is known.
        run_as (None | str | Unset): User that the program runs as on its computer; absent if it is the server's own
            user.
        typist (None | str | Unset): Id of the person who types in its terminal from afar; absent if the terminal is the
            server's.
        waits_for (list[str] | Unset): Ended sessions that keep links of this session closed: they ended with the
            computer, or as
            the last of a link. Resume them or end them.
    """

    client: str
    cwd: str
    id: str
    name: str
    origin: str
    started_at: str
    state: str
    waiting: int
    computer: None | str | Unset = UNSET
    doing: None | OccupationEntry | Unset = UNSET
    ended: None | SessionEnd | Unset = UNSET
    native: None | str | Unset = UNSET
    run_as: None | str | Unset = UNSET
    typist: None | str | Unset = UNSET
    waits_for: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.occupation_entry import OccupationEntry  # noqa: PLC0415
        from ..models.session_end import SessionEnd  # noqa: PLC0415

        client = self.client

        cwd = self.cwd

        id = self.id

        name = self.name

        origin = self.origin

        started_at = self.started_at

        state = self.state

        waiting = self.waiting

        computer: None | str | Unset
        if isinstance(self.computer, Unset):
            computer = UNSET
        else:
            computer = self.computer

        doing: dict[str, Any] | None | Unset
        if isinstance(self.doing, Unset):
            doing = UNSET
        elif isinstance(self.doing, OccupationEntry):
            doing = self.doing.to_dict()
        else:
            doing = self.doing

        ended: dict[str, Any] | None | Unset
        if isinstance(self.ended, Unset):
            ended = UNSET
        elif isinstance(self.ended, SessionEnd):
            ended = self.ended.to_dict()
        else:
            ended = self.ended

        native: None | str | Unset
        if isinstance(self.native, Unset):
            native = UNSET
        else:
            native = self.native

        run_as: None | str | Unset
        if isinstance(self.run_as, Unset):
            run_as = UNSET
        else:
            run_as = self.run_as

        typist: None | str | Unset
        if isinstance(self.typist, Unset):
            typist = UNSET
        else:
            typist = self.typist

        waits_for: list[str] | Unset = UNSET
        if not isinstance(self.waits_for, Unset):
            waits_for = self.waits_for

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "client": client,
                "cwd": cwd,
                "id": id,
                "name": name,
                "origin": origin,
                "started_at": started_at,
                "state": state,
                "waiting": waiting,
            }
        )
        if computer is not UNSET:
            field_dict["computer"] = computer
        if doing is not UNSET:
            field_dict["doing"] = doing
        if ended is not UNSET:
            field_dict["ended"] = ended
        if native is not UNSET:
            field_dict["native"] = native
        if run_as is not UNSET:
            field_dict["run_as"] = run_as
        if typist is not UNSET:
            field_dict["typist"] = typist
        if waits_for is not UNSET:
            field_dict["waits_for"] = waits_for

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.occupation_entry import OccupationEntry  # noqa: PLC0415
        from ..models.session_end import SessionEnd  # noqa: PLC0415

        d = dict(src_dict)
        client = d.pop("client")

        cwd = d.pop("cwd")

        id = d.pop("id")

        name = d.pop("name")

        origin = d.pop("origin")

        started_at = d.pop("started_at")

        state = d.pop("state")

        waiting = d.pop("waiting")

        def _parse_computer(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        computer = _parse_computer(d.pop("computer", UNSET))

        def _parse_doing(data: object) -> None | OccupationEntry | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                doing_type_0 = OccupationEntry.from_dict(data)

                return doing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OccupationEntry | Unset, data)

        doing = _parse_doing(d.pop("doing", UNSET))

        def _parse_ended(data: object) -> None | SessionEnd | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ended_type_0 = SessionEnd.from_dict(data)

                return ended_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SessionEnd | Unset, data)

        ended = _parse_ended(d.pop("ended", UNSET))

        def _parse_native(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        native = _parse_native(d.pop("native", UNSET))

        def _parse_run_as(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        run_as = _parse_run_as(d.pop("run_as", UNSET))

        def _parse_typist(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        typist = _parse_typist(d.pop("typist", UNSET))

        waits_for = cast(list[str], d.pop("waits_for", UNSET))

        session_entry = cls(
            client=client,
            cwd=cwd,
            id=id,
            name=name,
            origin=origin,
            started_at=started_at,
            state=state,
            waiting=waiting,
            computer=computer,
            doing=doing,
            ended=ended,
            native=native,
            run_as=run_as,
            typist=typist,
            waits_for=waits_for,
        )

        session_entry.additional_properties = d
        return session_entry

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
