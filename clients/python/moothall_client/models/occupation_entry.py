from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="OccupationEntry")


@_attrs_define
class OccupationEntry:
    """The state of a participant in one word. A session has one state in all of its threads.

    Attributes:
        name (str): Name of the participant.
        participant (str): Id of the participant.
        says (str): The state in words for people, after the participant's name: `asks you`, `waits for ann`,
            `3rd`.
        thread (str): Id of the thread.
        word (str): The word: `thinking`, `writing`, `working`, `asks`, `waits`, `queued`, `paused`, `muted`,
            `ready`, `away` or `ended`.
        asks_you (bool | Unset): True if the participant asks a question that the reader may answer.
        at (None | str | Unset): Id of the thread in which the session works or asks, if it is another one that the
            reader
            reads.
        elsewhere (bool | Unset): True if the session works or waits in a thread that the reader does not read.
        line (None | str | Unset): The use of the tool in a few words. Of a session, only for readers of its screen.
        place (int | None | Unset): Place among those that are asked next, from 1.
        session (None | str | Unset): Id of the session that the participant is.
        since (None | str | Unset): Start of the state; absent if no clock runs.
        tool (None | str | Unset): Name of the tool that the participant uses; absent if not known.
        turn (None | str | Unset): Id of the participant's open turn in this thread.
        waits_for (None | str | Unset): Id of the participant whose turn comes before.
    """

    name: str
    participant: str
    says: str
    thread: str
    word: str
    asks_you: bool | Unset = UNSET
    at: None | str | Unset = UNSET
    elsewhere: bool | Unset = UNSET
    line: None | str | Unset = UNSET
    place: int | None | Unset = UNSET
    session: None | str | Unset = UNSET
    since: None | str | Unset = UNSET
    tool: None | str | Unset = UNSET
    turn: None | str | Unset = UNSET
    waits_for: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        participant = self.participant

        says = self.says

        thread = self.thread

        word = self.word

        asks_you = self.asks_you

        at: None | str | Unset
        if isinstance(self.at, Unset):
            at = UNSET
        else:
            at = self.at

        elsewhere = self.elsewhere

        line: None | str | Unset
        if isinstance(self.line, Unset):
            line = UNSET
        else:
            line = self.line

        place: int | None | Unset
        if isinstance(self.place, Unset):
            place = UNSET
        else:
            place = self.place

        session: None | str | Unset
        if isinstance(self.session, Unset):
            session = UNSET
        else:
            session = self.session

        since: None | str | Unset
        if isinstance(self.since, Unset):
            since = UNSET
        else:
            since = self.since

        tool: None | str | Unset
        if isinstance(self.tool, Unset):
            tool = UNSET
        else:
            tool = self.tool

        turn: None | str | Unset
        if isinstance(self.turn, Unset):
            turn = UNSET
        else:
            turn = self.turn

        waits_for: None | str | Unset
        if isinstance(self.waits_for, Unset):
            waits_for = UNSET
        else:
            waits_for = self.waits_for

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "participant": participant,
                "says": says,
                "thread": thread,
                "word": word,
            }
        )
        if asks_you is not UNSET:
            field_dict["asks_you"] = asks_you
        if at is not UNSET:
            field_dict["at"] = at
        if elsewhere is not UNSET:
            field_dict["elsewhere"] = elsewhere
        if line is not UNSET:
            field_dict["line"] = line
        if place is not UNSET:
            field_dict["place"] = place
        if session is not UNSET:
            field_dict["session"] = session
        if since is not UNSET:
            field_dict["since"] = since
        if tool is not UNSET:
            field_dict["tool"] = tool
        if turn is not UNSET:
            field_dict["turn"] = turn
        if waits_for is not UNSET:
            field_dict["waits_for"] = waits_for

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        participant = d.pop("participant")

        says = d.pop("says")

        thread = d.pop("thread")

        word = d.pop("word")

        asks_you = d.pop("asks_you", UNSET)

        def _parse_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        at = _parse_at(d.pop("at", UNSET))

        elsewhere = d.pop("elsewhere", UNSET)

        def _parse_line(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        line = _parse_line(d.pop("line", UNSET))

        def _parse_place(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        place = _parse_place(d.pop("place", UNSET))

        def _parse_session(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        session = _parse_session(d.pop("session", UNSET))

        def _parse_since(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        since = _parse_since(d.pop("since", UNSET))

        def _parse_tool(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        tool = _parse_tool(d.pop("tool", UNSET))

        def _parse_turn(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        turn = _parse_turn(d.pop("turn", UNSET))

        def _parse_waits_for(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        waits_for = _parse_waits_for(d.pop("waits_for", UNSET))

        occupation_entry = cls(
            name=name,
            participant=participant,
            says=says,
            thread=thread,
            word=word,
            asks_you=asks_you,
            at=at,
            elsewhere=elsewhere,
            line=line,
            place=place,
            session=session,
            since=since,
            tool=tool,
            turn=turn,
            waits_for=waits_for,
        )

        occupation_entry.additional_properties = d
        return occupation_entry

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
