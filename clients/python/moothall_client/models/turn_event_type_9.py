from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_9_event import TurnEventType9Event

if TYPE_CHECKING:
    from ..models.wire_usage import WireUsage


T = TypeVar("T", bound="TurnEventType9")


@_attrs_define
class TurnEventType9:
    """An agent summarised what no longer fits into its memory.

    Attributes:
        event (TurnEventType9Event):
        participant (str): Id of the agent.
        text (str): The summary. Empty if it was erased, with words that it covered or by a newer summary.
        through_seq (int): Position of the last event that the summary covers, inclusive.
        turn (str): Id of the turn for which the summary was made.
        usage (WireUsage): Time, tokens and money used by a turn.
    """

    event: TurnEventType9Event
    participant: str
    text: str
    through_seq: int
    turn: str
    usage: WireUsage
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        participant = self.participant

        text = self.text

        through_seq = self.through_seq

        turn = self.turn

        usage = self.usage.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "participant": participant,
                "text": text,
                "through_seq": through_seq,
                "turn": turn,
                "usage": usage,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.wire_usage import WireUsage  # noqa: PLC0415

        d = dict(src_dict)
        event = TurnEventType9Event(d.pop("event"))

        participant = d.pop("participant")

        text = d.pop("text")

        through_seq = d.pop("through_seq")

        turn = d.pop("turn")

        usage = WireUsage.from_dict(d.pop("usage"))

        turn_event_type_9 = cls(
            event=event,
            participant=participant,
            text=text,
            through_seq=through_seq,
            turn=turn,
            usage=usage,
        )

        turn_event_type_9.additional_properties = d
        return turn_event_type_9

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
