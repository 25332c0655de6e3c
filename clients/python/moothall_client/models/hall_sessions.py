from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.link_entry import LinkEntry
    from ..models.program_entry import ProgramEntry
    from ..models.session_entry import SessionEntry


T = TypeVar("T", bound="HallSessions")


@_attrs_define
class HallSessions:
    """The sessions of this computer, and their links.

    Attributes:
        ended (list[str]): Ids of the sessions that have ended.
        links (list[LinkEntry]): The open links.
        live (list[SessionEntry]): The live sessions, in the order in which they began.
        programs (list[ProgramEntry]): The programs that can be started.
        waiting (list[LinkEntry] | Unset): Closed links that reopen once sessions are resumed or ended.
    """

    ended: list[str]
    links: list[LinkEntry]
    live: list[SessionEntry]
    programs: list[ProgramEntry]
    waiting: list[LinkEntry] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ended = self.ended

        links = []
        for links_item_data in self.links:
            links_item = links_item_data.to_dict()
            links.append(links_item)

        live = []
        for live_item_data in self.live:
            live_item = live_item_data.to_dict()
            live.append(live_item)

        programs = []
        for programs_item_data in self.programs:
            programs_item = programs_item_data.to_dict()
            programs.append(programs_item)

        waiting: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.waiting, Unset):
            waiting = []
            for waiting_item_data in self.waiting:
                waiting_item = waiting_item_data.to_dict()
                waiting.append(waiting_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ended": ended,
                "links": links,
                "live": live,
                "programs": programs,
            }
        )
        if waiting is not UNSET:
            field_dict["waiting"] = waiting

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.link_entry import LinkEntry  # noqa: PLC0415
        from ..models.program_entry import ProgramEntry  # noqa: PLC0415
        from ..models.session_entry import SessionEntry  # noqa: PLC0415

        d = dict(src_dict)
        ended = cast(list[str], d.pop("ended"))

        links = []
        _links = d.pop("links")
        for links_item_data in _links:
            links_item = LinkEntry.from_dict(links_item_data)

            links.append(links_item)

        live = []
        _live = d.pop("live")
        for live_item_data in _live:
            live_item = SessionEntry.from_dict(live_item_data)

            live.append(live_item)

        programs = []
        _programs = d.pop("programs")
        for programs_item_data in _programs:
            programs_item = ProgramEntry.from_dict(programs_item_data)

            programs.append(programs_item)

        _waiting = d.pop("waiting", UNSET)
        waiting: list[LinkEntry] | Unset = UNSET
        if _waiting is not UNSET:
            waiting = []
            for waiting_item_data in _waiting:
                waiting_item = LinkEntry.from_dict(waiting_item_data)

                waiting.append(waiting_item)

        hall_sessions = cls(
            ended=ended,
            links=links,
            live=live,
            programs=programs,
            waiting=waiting,
        )

        hall_sessions.additional_properties = d
        return hall_sessions

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
