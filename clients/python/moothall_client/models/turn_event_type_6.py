from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.turn_event_type_6_event import TurnEventType6Event
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.cause_ref import CauseRef


T = TypeVar("T", bound="TurnEventType6")


@_attrs_define
class TurnEventType6:
    """An agent was not asked.

    Attributes:
        cause (CauseRef): A reference to the event that caused something.
        event (TurnEventType6Event):
        participant (str): Id of the agent.
        why_not (str): Reason: `capped`, `cooled`, `muted`, `paused`, `offline`, `skipped`, `held`,
            `over_budget`, `reads_only`, `ended`, `queue_full` or `round_over`.
        detail (None | str | Unset): Further words about the reason; absent if there are none.
    """

    cause: CauseRef
    event: TurnEventType6Event
    participant: str
    why_not: str
    detail: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cause = self.cause.to_dict()

        event = self.event.value

        participant = self.participant

        why_not = self.why_not

        detail: None | str | Unset
        if isinstance(self.detail, Unset):
            detail = UNSET
        else:
            detail = self.detail

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cause": cause,
                "event": event,
                "participant": participant,
                "why_not": why_not,
            }
        )
        if detail is not UNSET:
            field_dict["detail"] = detail

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cause_ref import CauseRef  # noqa: PLC0415

        d = dict(src_dict)
        cause = CauseRef.from_dict(d.pop("cause"))

        event = TurnEventType6Event(d.pop("event"))

        participant = d.pop("participant")

        why_not = d.pop("why_not")

        def _parse_detail(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        detail = _parse_detail(d.pop("detail", UNSET))

        turn_event_type_6 = cls(
            cause=cause,
            event=event,
            participant=participant,
            why_not=why_not,
            detail=detail,
        )

        turn_event_type_6.additional_properties = d
        return turn_event_type_6

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
