from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="GatheringRules")


@_attrs_define
class GatheringRules:
    """The plan of a gathering.

    Attributes:
        beat_interval_seconds (float): Seconds from beat to beat.
        beats_per_turn (int): Beats for which a speaker may hold the piece.
        breath (list[int]): Numbers of rounds of inhale, hold and exhale.
        delivery (str): `live` or `on_turn`.
        last_word_seconds (float): Seconds for a last word after the last beat.
        opening_question (str): The opening question.
        rhythm (str): Rhythm of the gathering.
    """

    beat_interval_seconds: float
    beats_per_turn: int
    breath: list[int]
    delivery: str
    last_word_seconds: float
    opening_question: str
    rhythm: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        beat_interval_seconds = self.beat_interval_seconds

        beats_per_turn = self.beats_per_turn

        breath = self.breath

        delivery = self.delivery

        last_word_seconds = self.last_word_seconds

        opening_question = self.opening_question

        rhythm = self.rhythm

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "beat_interval_seconds": beat_interval_seconds,
                "beats_per_turn": beats_per_turn,
                "breath": breath,
                "delivery": delivery,
                "last_word_seconds": last_word_seconds,
                "opening_question": opening_question,
                "rhythm": rhythm,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        beat_interval_seconds = d.pop("beat_interval_seconds")

        beats_per_turn = d.pop("beats_per_turn")

        breath = cast(list[int], d.pop("breath"))

        delivery = d.pop("delivery")

        last_word_seconds = d.pop("last_word_seconds")

        opening_question = d.pop("opening_question")

        rhythm = d.pop("rhythm")

        gathering_rules = cls(
            beat_interval_seconds=beat_interval_seconds,
            beats_per_turn=beats_per_turn,
            breath=breath,
            delivery=delivery,
            last_word_seconds=last_word_seconds,
            opening_question=opening_question,
            rhythm=rhythm,
        )

        gathering_rules.additional_properties = d
        return gathering_rules

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
