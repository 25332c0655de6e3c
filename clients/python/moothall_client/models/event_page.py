from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.envelope import Envelope


T = TypeVar("T", bound="EventPage")


@_attrs_define
class EventPage:
    """Answer of `GET /threads/{id}/events`.

    Attributes:
        count (int): Number of events on this page.
        events (list[Envelope]): The events, ordered by `seq`. Events that the viewer may not read leave gaps.
        head (int): Position of the thread's newest event.
        through (int): The newest position that was read: `after` for the next page.
    """

    count: int
    events: list[Envelope]
    head: int
    through: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        count = self.count

        events = []
        for events_item_data in self.events:
            events_item = events_item_data.to_dict()
            events.append(events_item)

        head = self.head

        through = self.through

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "count": count,
                "events": events,
                "head": head,
                "through": through,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.envelope import Envelope  # noqa: PLC0415

        d = dict(src_dict)
        count = d.pop("count")

        events = []
        _events = d.pop("events")
        for events_item_data in _events:
            events_item = Envelope.from_dict(events_item_data)

            events.append(events_item)

        head = d.pop("head")

        through = d.pop("through")

        event_page = cls(
            count=count,
            events=events,
            head=head,
            through=through,
        )

        event_page.additional_properties = d
        return event_page

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
