from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_5_event import TurnEventType5Event
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.wire_fault import WireFault
    from ..models.wire_usage import WireUsage


T = TypeVar("T", bound="TurnEventType5")


@_attrs_define
class TurnEventType5:
    """The turn ended.

    Attributes:
        attempt (int): Number of the last attempt, from 1.
        event (TurnEventType5Event):
        outcome (str): Outcome of the turn: `spoke`, `passed`, `failed`, `expired` or `cancelled`.
        participant (str): Id of the turn's participant.
        turn (str): Id of the turn: `<thread>.<number>`.
        usage (WireUsage): Time, tokens and money used by a turn.
        ended (None | str | Unset): End of the model's answer: `stop`, `length`, `filter`, `refusal`, `tool`, `error` or
            `cut`. Absent if the provider does not report it.
        fault (None | Unset | WireFault):
    """

    attempt: int
    event: TurnEventType5Event
    outcome: str
    participant: str
    turn: str
    usage: WireUsage
    ended: None | str | Unset = UNSET
    fault: None | Unset | WireFault = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.wire_fault import WireFault  # noqa: PLC0415

        attempt = self.attempt

        event = self.event.value

        outcome = self.outcome

        participant = self.participant

        turn = self.turn

        usage = self.usage.to_dict()

        ended: None | str | Unset
        if isinstance(self.ended, Unset):
            ended = UNSET
        else:
            ended = self.ended

        fault: dict[str, Any] | None | Unset
        if isinstance(self.fault, Unset):
            fault = UNSET
        elif isinstance(self.fault, WireFault):
            fault = self.fault.to_dict()
        else:
            fault = self.fault

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempt": attempt,
                "event": event,
                "outcome": outcome,
                "participant": participant,
                "turn": turn,
                "usage": usage,
            }
        )
        if ended is not UNSET:
            field_dict["ended"] = ended
        if fault is not UNSET:
            field_dict["fault"] = fault

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.wire_fault import WireFault  # noqa: PLC0415
        from ..models.wire_usage import WireUsage  # noqa: PLC0415

        d = dict(src_dict)
        attempt = d.pop("attempt")

        event = TurnEventType5Event(d.pop("event"))

        outcome = d.pop("outcome")

        participant = d.pop("participant")

        turn = d.pop("turn")

        usage = WireUsage.from_dict(d.pop("usage"))

        def _parse_ended(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        ended = _parse_ended(d.pop("ended", UNSET))

        def _parse_fault(data: object) -> None | Unset | WireFault:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                fault_type_0 = WireFault.from_dict(data)

                return fault_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | WireFault, data)

        fault = _parse_fault(d.pop("fault", UNSET))

        turn_event_type_5 = cls(
            attempt=attempt,
            event=event,
            outcome=outcome,
            participant=participant,
            turn=turn,
            usage=usage,
            ended=ended,
            fault=fault,
        )

        turn_event_type_5.additional_properties = d
        return turn_event_type_5

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
