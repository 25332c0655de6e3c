from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.new_gathering_breath_type_0 import NewGatheringBreathType0
    from ..models.new_gathering_member import NewGatheringMember


T = TypeVar("T", bound="NewGathering")


@_attrs_define
class NewGathering:
    """Body of `POST /gatherings`.

    Attributes:
        participants (list[NewGatheringMember]): The participants: two or more speakers, and one harvester.
        beat_interval_seconds (float | None | Unset): Seconds from beat to beat: 1 to 86,400; 60 if absent.
        beats_per_turn (int | None | Unset): Beats for which a speaker may hold the piece: 1 to 100; 3 if absent.
        breath (NewGatheringBreathType0 | None | Unset): Rounds of inhale, hold and exhale: `minimal` (1-1-1),
            `standard` (2-2-2), `extended`
            (2-3-2), or three numbers from 1; `standard` if absent.
        delivery (None | str | Unset): Delivery of others' words to agents with their own memory. `live`: at once, which
            costs a
            turn for each contribution and listener. `on_turn`: together with the piece. `live` if
            absent.
        from_ (None | str | Unset): Id of the participant that begins the gathering. If absent, `user`, or the session
            to which
            the token belongs.
        keep (bool | None | Unset): True if programs started for the gathering continue after it. Otherwise they end
            with it.
        last_word_seconds (float | None | Unset): Seconds for a last word after the last beat: 1 to 86,400; 20 if
            absent.
        opening_question (None | str | Unset): The opening question.
        rhythm (None | str | Unset): Rhythm of the gathering, for example `daily`: 1 to 64 characters; `gathering` if
            absent.
            Harvests of one rhythm make a trail.
        title (None | str | Unset): Title of the gathering's thread; made from the rhythm if absent.
    """

    participants: list[NewGatheringMember]
    beat_interval_seconds: float | None | Unset = UNSET
    beats_per_turn: int | None | Unset = UNSET
    breath: NewGatheringBreathType0 | None | Unset = UNSET
    delivery: None | str | Unset = UNSET
    from_: None | str | Unset = UNSET
    keep: bool | None | Unset = UNSET
    last_word_seconds: float | None | Unset = UNSET
    opening_question: None | str | Unset = UNSET
    rhythm: None | str | Unset = UNSET
    title: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.new_gathering_breath_type_0 import NewGatheringBreathType0  # noqa: PLC0415

        participants = []
        for participants_item_data in self.participants:
            participants_item = participants_item_data.to_dict()
            participants.append(participants_item)

        beat_interval_seconds: float | None | Unset
        if isinstance(self.beat_interval_seconds, Unset):
            beat_interval_seconds = UNSET
        else:
            beat_interval_seconds = self.beat_interval_seconds

        beats_per_turn: int | None | Unset
        if isinstance(self.beats_per_turn, Unset):
            beats_per_turn = UNSET
        else:
            beats_per_turn = self.beats_per_turn

        breath: dict[str, Any] | None | Unset
        if isinstance(self.breath, Unset):
            breath = UNSET
        elif isinstance(self.breath, NewGatheringBreathType0):
            breath = self.breath.to_dict()
        else:
            breath = self.breath

        delivery: None | str | Unset
        if isinstance(self.delivery, Unset):
            delivery = UNSET
        else:
            delivery = self.delivery

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        keep: bool | None | Unset
        if isinstance(self.keep, Unset):
            keep = UNSET
        else:
            keep = self.keep

        last_word_seconds: float | None | Unset
        if isinstance(self.last_word_seconds, Unset):
            last_word_seconds = UNSET
        else:
            last_word_seconds = self.last_word_seconds

        opening_question: None | str | Unset
        if isinstance(self.opening_question, Unset):
            opening_question = UNSET
        else:
            opening_question = self.opening_question

        rhythm: None | str | Unset
        if isinstance(self.rhythm, Unset):
            rhythm = UNSET
        else:
            rhythm = self.rhythm

        title: None | str | Unset
        if isinstance(self.title, Unset):
            title = UNSET
        else:
            title = self.title

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "participants": participants,
            }
        )
        if beat_interval_seconds is not UNSET:
            field_dict["beat_interval_seconds"] = beat_interval_seconds
        if beats_per_turn is not UNSET:
            field_dict["beats_per_turn"] = beats_per_turn
        if breath is not UNSET:
            field_dict["breath"] = breath
        if delivery is not UNSET:
            field_dict["delivery"] = delivery
        if from_ is not UNSET:
            field_dict["from"] = from_
        if keep is not UNSET:
            field_dict["keep"] = keep
        if last_word_seconds is not UNSET:
            field_dict["last_word_seconds"] = last_word_seconds
        if opening_question is not UNSET:
            field_dict["opening_question"] = opening_question
        if rhythm is not UNSET:
            field_dict["rhythm"] = rhythm
        if title is not UNSET:
            field_dict["title"] = title

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.new_gathering_breath_type_0 import NewGatheringBreathType0  # noqa: PLC0415
        from ..models.new_gathering_member import NewGatheringMember  # noqa: PLC0415

        d = dict(src_dict)
        participants = []
        _participants = d.pop("participants")
        for participants_item_data in _participants:
            participants_item = NewGatheringMember.from_dict(participants_item_data)

            participants.append(participants_item)

        def _parse_beat_interval_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        beat_interval_seconds = _parse_beat_interval_seconds(
            d.pop("beat_interval_seconds", UNSET)
        )

        def _parse_beats_per_turn(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        beats_per_turn = _parse_beats_per_turn(d.pop("beats_per_turn", UNSET))

        def _parse_breath(data: object) -> NewGatheringBreathType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                breath_type_0 = NewGatheringBreathType0.from_dict(data)

                return breath_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(NewGatheringBreathType0 | None | Unset, data)

        breath = _parse_breath(d.pop("breath", UNSET))

        def _parse_delivery(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        delivery = _parse_delivery(d.pop("delivery", UNSET))

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        def _parse_keep(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        keep = _parse_keep(d.pop("keep", UNSET))

        def _parse_last_word_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        last_word_seconds = _parse_last_word_seconds(d.pop("last_word_seconds", UNSET))

        def _parse_opening_question(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        opening_question = _parse_opening_question(d.pop("opening_question", UNSET))

        def _parse_rhythm(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        rhythm = _parse_rhythm(d.pop("rhythm", UNSET))

        def _parse_title(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        title = _parse_title(d.pop("title", UNSET))

        new_gathering = cls(
            participants=participants,
            beat_interval_seconds=beat_interval_seconds,
            beats_per_turn=beats_per_turn,
            breath=breath,
            delivery=delivery,
            from_=from_,
            keep=keep,
            last_word_seconds=last_word_seconds,
            opening_question=opening_question,
            rhythm=rhythm,
            title=title,
        )

        return new_gathering
