from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.gathering_step_type_0_event import GatheringStepType0Event

if TYPE_CHECKING:
    from ..models.gathering_member import GatheringMember
    from ..models.gathering_rules import GatheringRules


T = TypeVar("T", bound="GatheringStepType0")


@_attrs_define
class GatheringStepType0:
    """The gathering began.

    Attributes:
        by (str): Id of the participant that began it.
        event (GatheringStepType0Event):
        participants (list[GatheringMember]): The participants, ordered by number.
        plan (GatheringRules): The plan of a gathering.
    """

    by: str
    event: GatheringStepType0Event
    participants: list[GatheringMember]
    plan: GatheringRules
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        by = self.by

        event = self.event.value

        participants = []
        for participants_item_data in self.participants:
            participants_item = participants_item_data.to_dict()
            participants.append(participants_item)

        plan = self.plan.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "by": by,
                "event": event,
                "participants": participants,
                "plan": plan,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.gathering_member import GatheringMember  # noqa: PLC0415
        from ..models.gathering_rules import GatheringRules  # noqa: PLC0415

        d = dict(src_dict)
        by = d.pop("by")

        event = GatheringStepType0Event(d.pop("event"))

        participants = []
        _participants = d.pop("participants")
        for participants_item_data in _participants:
            participants_item = GatheringMember.from_dict(participants_item_data)

            participants.append(participants_item)

        plan = GatheringRules.from_dict(d.pop("plan"))

        gathering_step_type_0 = cls(
            by=by,
            event=event,
            participants=participants,
            plan=plan,
        )

        gathering_step_type_0.additional_properties = d
        return gathering_step_type_0

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
