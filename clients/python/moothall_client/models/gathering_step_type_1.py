from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.gathering_step_type_1_event import GatheringStepType1Event

T = TypeVar("T", bound="GatheringStepType1")


@_attrs_define
class GatheringStepType1:
    """A round began.

    Attributes:
        event (GatheringStepType1Event):
        order (list[str]): Ids of the participants that will hold the piece, in order.
        phase (str): Phase of the round: `inhale`, `hold` or `exhale`.
        round_ (int): Number of the round in its phase, from 1.
        rule (str): Rule of the phase for speakers, in one sentence.
    """

    event: GatheringStepType1Event
    order: list[str]
    phase: str
    round_: int
    rule: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        order = self.order

        phase = self.phase

        round_ = self.round_

        rule = self.rule

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "order": order,
                "phase": phase,
                "round": round_,
                "rule": rule,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event = GatheringStepType1Event(d.pop("event"))

        order = cast(list[str], d.pop("order"))

        phase = d.pop("phase")

        round_ = d.pop("round")

        rule = d.pop("rule")

        gathering_step_type_1 = cls(
            event=event,
            order=order,
            phase=phase,
            round_=round_,
            rule=rule,
        )

        gathering_step_type_1.additional_properties = d
        return gathering_step_type_1

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
