from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ProgressSignal")


@_attrs_define
class ProgressSignal:
    """The `progress` signal of a stream: the current activity of a running turn.

    Attributes:
        participant (str): Id of the turn's participant.
        text (str): The activity in a few words.
        turn (str): Id of the turn: `<thread>.<number>`.
    """

    participant: str
    text: str
    turn: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        participant = self.participant

        text = self.text

        turn = self.turn

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "participant": participant,
                "text": text,
                "turn": turn,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        participant = d.pop("participant")

        text = d.pop("text")

        turn = d.pop("turn")

        progress_signal = cls(
            participant=participant,
            text=text,
            turn=turn,
        )

        progress_signal.additional_properties = d
        return progress_signal

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
