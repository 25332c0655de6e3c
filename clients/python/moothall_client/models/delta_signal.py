from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DeltaSignal")


@_attrs_define
class DeltaSignal:
    """The `delta` signal of a stream: a part of a running turn's answer.

    Attributes:
        attempt (int): Number of the attempt, from 1.
        offset (int): Number of bytes of the answer before this part.
        participant (str): Id of the turn's participant.
        text (str): Text of this part, to be appended to the earlier parts.
        turn (str): Id of the turn: `<thread>.<number>`.
    """

    attempt: int
    offset: int
    participant: str
    text: str
    turn: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attempt = self.attempt

        offset = self.offset

        participant = self.participant

        text = self.text

        turn = self.turn

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempt": attempt,
                "offset": offset,
                "participant": participant,
                "text": text,
                "turn": turn,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        attempt = d.pop("attempt")

        offset = d.pop("offset")

        participant = d.pop("participant")

        text = d.pop("text")

        turn = d.pop("turn")

        delta_signal = cls(
            attempt=attempt,
            offset=offset,
            participant=participant,
            text=text,
            turn=turn,
        )

        delta_signal.additional_properties = d
        return delta_signal

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
