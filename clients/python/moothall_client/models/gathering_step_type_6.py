from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.gathering_step_type_6_event import GatheringStepType6Event
from ..types import UNSET, Unset

T = TypeVar("T", bound="GatheringStepType6")


@_attrs_define
class GatheringStepType6:
    """The speaking ended, and the harvest was asked for.

    Attributes:
        because (str): Reason with which the gathering will close.
        event (GatheringStepType6Event):
        harvester (str): Id of the harvester.
        until (None | str): Time until which a person is waited for; `null` for an agent, whose turn has its own
            limit.
        policy (None | str | Unset): Name of the policy that applies after the close; absent if none was recorded.
    """

    because: str
    event: GatheringStepType6Event
    harvester: str
    until: None | str
    policy: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        because = self.because

        event = self.event.value

        harvester = self.harvester

        until: None | str
        until = self.until

        policy: None | str | Unset
        if isinstance(self.policy, Unset):
            policy = UNSET
        else:
            policy = self.policy

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "because": because,
                "event": event,
                "harvester": harvester,
                "until": until,
            }
        )
        if policy is not UNSET:
            field_dict["policy"] = policy

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        because = d.pop("because")

        event = GatheringStepType6Event(d.pop("event"))

        harvester = d.pop("harvester")

        def _parse_until(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        until = _parse_until(d.pop("until"))

        def _parse_policy(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        policy = _parse_policy(d.pop("policy", UNSET))

        gathering_step_type_6 = cls(
            because=because,
            event=event,
            harvester=harvester,
            until=until,
            policy=policy,
        )

        gathering_step_type_6.additional_properties = d
        return gathering_step_type_6

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
