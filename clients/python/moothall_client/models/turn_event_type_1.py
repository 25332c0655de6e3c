from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_1_event import TurnEventType1Event

if TYPE_CHECKING:
    from ..models.cause_ref import CauseRef


T = TypeVar("T", bound="TurnEventType1")


@_attrs_define
class TurnEventType1:
    """A waiting turn got another cause.

    Attributes:
        cause (CauseRef): A reference to the event that caused something.
        event (TurnEventType1Event):
        kind (str): Kind of the turn now: `reply` or `listen`.
        may_pass (bool): True if the participant may pass now.
        turn (str): Id of the turn: `<thread>.<number>`.
        why (str): Reason of the turn now, in the words of `granted`.
    """

    cause: CauseRef
    event: TurnEventType1Event
    kind: str
    may_pass: bool
    turn: str
    why: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cause = self.cause.to_dict()

        event = self.event.value

        kind = self.kind

        may_pass = self.may_pass

        turn = self.turn

        why = self.why

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cause": cause,
                "event": event,
                "kind": kind,
                "may_pass": may_pass,
                "turn": turn,
                "why": why,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cause_ref import CauseRef  # noqa: PLC0415

        d = dict(src_dict)
        cause = CauseRef.from_dict(d.pop("cause"))

        event = TurnEventType1Event(d.pop("event"))

        kind = d.pop("kind")

        may_pass = d.pop("may_pass")

        turn = d.pop("turn")

        why = d.pop("why")

        turn_event_type_1 = cls(
            cause=cause,
            event=event,
            kind=kind,
            may_pass=may_pass,
            turn=turn,
            why=why,
        )

        turn_event_type_1.additional_properties = d
        return turn_event_type_1

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
