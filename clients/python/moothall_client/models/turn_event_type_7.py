from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_7_event import TurnEventType7Event
from ..types import UNSET, Unset

T = TypeVar("T", bound="TurnEventType7")


@_attrs_define
class TurnEventType7:
    """A text was kept and not shown.

    Attributes:
        because (str): Reason: `late`, `muted`, `paused`, `archived`, `uninvited`, `listening`, `no_piece`,
            `capped` or `stopped`.
        event (TurnEventType7Event):
        participant (str): Id of the participant that wrote the text.
        text (str): The text; empty once it was erased.
        turn (None | str | Unset): Id of the turn that the text answers; absent if it answers none.
    """

    because: str
    event: TurnEventType7Event
    participant: str
    text: str
    turn: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        because = self.because

        event = self.event.value

        participant = self.participant

        text = self.text

        turn: None | str | Unset
        if isinstance(self.turn, Unset):
            turn = UNSET
        else:
            turn = self.turn

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "because": because,
                "event": event,
                "participant": participant,
                "text": text,
            }
        )
        if turn is not UNSET:
            field_dict["turn"] = turn

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        because = d.pop("because")

        event = TurnEventType7Event(d.pop("event"))

        participant = d.pop("participant")

        text = d.pop("text")

        def _parse_turn(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        turn = _parse_turn(d.pop("turn", UNSET))

        turn_event_type_7 = cls(
            because=because,
            event=event,
            participant=participant,
            text=text,
            turn=turn,
        )

        turn_event_type_7.additional_properties = d
        return turn_event_type_7

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
