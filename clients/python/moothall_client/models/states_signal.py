from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.occupation_entry import OccupationEntry


T = TypeVar("T", bound="StatesSignal")


@_attrs_define
class StatesSignal:
    """The `states` signal of `GET /events/stream`: states that have changed.

    Attributes:
        states (list[OccupationEntry]): The new states. A participant that is not named keeps its state.
        thread (str): Id of the thread of the participants.
    """

    states: list[OccupationEntry]
    thread: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        states = []
        for states_item_data in self.states:
            states_item = states_item_data.to_dict()
            states.append(states_item)

        thread = self.thread

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "states": states,
                "thread": thread,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.occupation_entry import OccupationEntry  # noqa: PLC0415

        d = dict(src_dict)
        states = []
        _states = d.pop("states")
        for states_item_data in _states:
            states_item = OccupationEntry.from_dict(states_item_data)

            states.append(states_item)

        thread = d.pop("thread")

        states_signal = cls(
            states=states,
            thread=thread,
        )

        states_signal.additional_properties = d
        return states_signal

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
