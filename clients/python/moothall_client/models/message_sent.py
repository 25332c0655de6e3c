from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.away_computer import AwayComputer


T = TypeVar("T", bound="MessageSent")


@_attrs_define
class MessageSent:
    """A message to a session or a thread, posted or held back.

    Attributes:
        delivered_to (list[str]): Ids of the recipients: sessions, or the participants of a thread. A session of another
            computer as it was named: `builder@workstation`.
        link_state (str): State of the link: `created`, `reused`, `closed` or `none`.
        thread (str): Id of the thread of the message.
        away (AwayComputer | None | Unset):
        event (None | str | Unset): Id of the event; absent if no message was posted.
        link_id (None | str | Unset): Id of the link; `null` if there is none.
        seq (int | None | Unset): Position of the event in its thread; absent if no message was posted.
        warnings (list[str] | Unset): `held` or `stopped`: a guard or a Stop holds the message back until a person
            speaks in the
            thread. `unknown_name`: the message names an unknown participant; `no_discussion` and
            `outside_round`: it does not ask the agent that it names. A sentence follows these.
    """

    delivered_to: list[str]
    link_state: str
    thread: str
    away: AwayComputer | None | Unset = UNSET
    event: None | str | Unset = UNSET
    link_id: None | str | Unset = UNSET
    seq: int | None | Unset = UNSET
    warnings: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.away_computer import AwayComputer  # noqa: PLC0415

        delivered_to = self.delivered_to

        link_state = self.link_state

        thread = self.thread

        away: dict[str, Any] | None | Unset
        if isinstance(self.away, Unset):
            away = UNSET
        elif isinstance(self.away, AwayComputer):
            away = self.away.to_dict()
        else:
            away = self.away

        event: None | str | Unset
        if isinstance(self.event, Unset):
            event = UNSET
        else:
            event = self.event

        link_id: None | str | Unset
        if isinstance(self.link_id, Unset):
            link_id = UNSET
        else:
            link_id = self.link_id

        seq: int | None | Unset
        if isinstance(self.seq, Unset):
            seq = UNSET
        else:
            seq = self.seq

        warnings: list[str] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = self.warnings

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "delivered_to": delivered_to,
                "link_state": link_state,
                "thread": thread,
            }
        )
        if away is not UNSET:
            field_dict["away"] = away
        if event is not UNSET:
            field_dict["event"] = event
        if link_id is not UNSET:
            field_dict["link_id"] = link_id
        if seq is not UNSET:
            field_dict["seq"] = seq
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.away_computer import AwayComputer  # noqa: PLC0415

        d = dict(src_dict)
        delivered_to = cast(list[str], d.pop("delivered_to"))

        link_state = d.pop("link_state")

        thread = d.pop("thread")

        def _parse_away(data: object) -> AwayComputer | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                away_type_0 = AwayComputer.from_dict(data)

                return away_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AwayComputer | None | Unset, data)

        away = _parse_away(d.pop("away", UNSET))

        def _parse_event(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        event = _parse_event(d.pop("event", UNSET))

        def _parse_link_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        link_id = _parse_link_id(d.pop("link_id", UNSET))

        def _parse_seq(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        seq = _parse_seq(d.pop("seq", UNSET))

        warnings = cast(list[str], d.pop("warnings", UNSET))

        message_sent = cls(
            delivered_to=delivered_to,
            link_state=link_state,
            thread=thread,
            away=away,
            event=event,
            link_id=link_id,
            seq=seq,
            warnings=warnings,
        )

        message_sent.additional_properties = d
        return message_sent

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
