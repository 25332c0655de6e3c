from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.gathering_member import GatheringMember
    from ..models.harvest import Harvest
    from ..models.piece_holder import PieceHolder


T = TypeVar("T", bound="GatheringAnswer")


@_attrs_define
class GatheringAnswer:
    """A gathering, as it is now or was at its end.

    Attributes:
        beat (int): Number of beats of this hold so far.
        beat_interval_seconds (float): Seconds from beat to beat.
        beats (int): Number of beats of a hold.
        beats_per_turn (int): Beats for which a speaker may hold the piece.
        breath (list[int]): Numbers of rounds of inhale, hold and exhale.
        delivery (str): `live` or `on_turn`.
        id (str): Id of the gathering, equal to that of its thread.
        last_word (bool): True if the holder was asked for a last word.
        last_word_seconds (float): Seconds for a last word after the last beat.
        opening_question (str): The opening question.
        order (list[str]): Ids of the participants that will still hold the piece in this round, in order.
        participants (list[GatheringMember]): All participants at the beginning, ordered by number, including those who
            left.
        pass_asked (bool): True if the holder passed the piece during its turn. The piece moves on when that turn ends.
        rhythm (str): Rhythm of the gathering.
        round_ (int): Round of the phase, from 1; 0 before the first.
        rounds (int): Number of rounds of the phase.
        status (str): `seeding` while its participants join; then `active`; at the end `closed`.
        stopped (bool): True if a person stopped the gathering. It continues after a resume.
        thread (str): Id of the gathering's thread.
        title (str): Title of the gathering's thread.
        closed_because (None | str | Unset): Reason of the close: `done`, `too_few` (speakers were left), or `ended` (by
            a person);
            `null` before.
        harvest (Harvest | None | Unset):
        holder (None | PieceHolder | Unset):
        next_beat_at (None | str | Unset): Time of the next beat, or of the end of the last word. `null` while the clock
            stands: before
            the holder begins, while a permission is open, and in a pause.
        phase (None | str | Unset): `inhale`, `hold` or `exhale`; `close` from the request for the harvest on; `null`
            during
            seeding.
        pulse (None | str | Unset): Summary of the last beat, for the requested holder; `null` without one.
        rule (None | str | Unset): Rule of the phase for speakers, in one sentence.
        seed (None | str | Unset): Seed message of the requested participant; `null` without one.
        since (None | str | Unset): Time since which the holder has had the piece; `null` without a holder.
    """

    beat: int
    beat_interval_seconds: float
    beats: int
    beats_per_turn: int
    breath: list[int]
    delivery: str
    id: str
    last_word: bool
    last_word_seconds: float
    opening_question: str
    order: list[str]
    participants: list[GatheringMember]
    pass_asked: bool
    rhythm: str
    round_: int
    rounds: int
    status: str
    stopped: bool
    thread: str
    title: str
    closed_because: None | str | Unset = UNSET
    harvest: Harvest | None | Unset = UNSET
    holder: None | PieceHolder | Unset = UNSET
    next_beat_at: None | str | Unset = UNSET
    phase: None | str | Unset = UNSET
    pulse: None | str | Unset = UNSET
    rule: None | str | Unset = UNSET
    seed: None | str | Unset = UNSET
    since: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.harvest import Harvest  # noqa: PLC0415
        from ..models.piece_holder import PieceHolder  # noqa: PLC0415

        beat = self.beat

        beat_interval_seconds = self.beat_interval_seconds

        beats = self.beats

        beats_per_turn = self.beats_per_turn

        breath = self.breath

        delivery = self.delivery

        id = self.id

        last_word = self.last_word

        last_word_seconds = self.last_word_seconds

        opening_question = self.opening_question

        order = self.order

        participants = []
        for participants_item_data in self.participants:
            participants_item = participants_item_data.to_dict()
            participants.append(participants_item)

        pass_asked = self.pass_asked

        rhythm = self.rhythm

        round_ = self.round_

        rounds = self.rounds

        status = self.status

        stopped = self.stopped

        thread = self.thread

        title = self.title

        closed_because: None | str | Unset
        if isinstance(self.closed_because, Unset):
            closed_because = UNSET
        else:
            closed_because = self.closed_because

        harvest: dict[str, Any] | None | Unset
        if isinstance(self.harvest, Unset):
            harvest = UNSET
        elif isinstance(self.harvest, Harvest):
            harvest = self.harvest.to_dict()
        else:
            harvest = self.harvest

        holder: dict[str, Any] | None | Unset
        if isinstance(self.holder, Unset):
            holder = UNSET
        elif isinstance(self.holder, PieceHolder):
            holder = self.holder.to_dict()
        else:
            holder = self.holder

        next_beat_at: None | str | Unset
        if isinstance(self.next_beat_at, Unset):
            next_beat_at = UNSET
        else:
            next_beat_at = self.next_beat_at

        phase: None | str | Unset
        if isinstance(self.phase, Unset):
            phase = UNSET
        else:
            phase = self.phase

        pulse: None | str | Unset
        if isinstance(self.pulse, Unset):
            pulse = UNSET
        else:
            pulse = self.pulse

        rule: None | str | Unset
        if isinstance(self.rule, Unset):
            rule = UNSET
        else:
            rule = self.rule

        seed: None | str | Unset
        if isinstance(self.seed, Unset):
            seed = UNSET
        else:
            seed = self.seed

        since: None | str | Unset
        if isinstance(self.since, Unset):
            since = UNSET
        else:
            since = self.since

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "beat": beat,
                "beat_interval_seconds": beat_interval_seconds,
                "beats": beats,
                "beats_per_turn": beats_per_turn,
                "breath": breath,
                "delivery": delivery,
                "id": id,
                "last_word": last_word,
                "last_word_seconds": last_word_seconds,
                "opening_question": opening_question,
                "order": order,
                "participants": participants,
                "pass_asked": pass_asked,
                "rhythm": rhythm,
                "round": round_,
                "rounds": rounds,
                "status": status,
                "stopped": stopped,
                "thread": thread,
                "title": title,
            }
        )
        if closed_because is not UNSET:
            field_dict["closed_because"] = closed_because
        if harvest is not UNSET:
            field_dict["harvest"] = harvest
        if holder is not UNSET:
            field_dict["holder"] = holder
        if next_beat_at is not UNSET:
            field_dict["next_beat_at"] = next_beat_at
        if phase is not UNSET:
            field_dict["phase"] = phase
        if pulse is not UNSET:
            field_dict["pulse"] = pulse
        if rule is not UNSET:
            field_dict["rule"] = rule
        if seed is not UNSET:
            field_dict["seed"] = seed
        if since is not UNSET:
            field_dict["since"] = since

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.gathering_member import GatheringMember  # noqa: PLC0415
        from ..models.harvest import Harvest  # noqa: PLC0415
        from ..models.piece_holder import PieceHolder  # noqa: PLC0415

        d = dict(src_dict)
        beat = d.pop("beat")

        beat_interval_seconds = d.pop("beat_interval_seconds")

        beats = d.pop("beats")

        beats_per_turn = d.pop("beats_per_turn")

        breath = cast(list[int], d.pop("breath"))

        delivery = d.pop("delivery")

        id = d.pop("id")

        last_word = d.pop("last_word")

        last_word_seconds = d.pop("last_word_seconds")

        opening_question = d.pop("opening_question")

        order = cast(list[str], d.pop("order"))

        participants = []
        _participants = d.pop("participants")
        for participants_item_data in _participants:
            participants_item = GatheringMember.from_dict(participants_item_data)

            participants.append(participants_item)

        pass_asked = d.pop("pass_asked")

        rhythm = d.pop("rhythm")

        round_ = d.pop("round")

        rounds = d.pop("rounds")

        status = d.pop("status")

        stopped = d.pop("stopped")

        thread = d.pop("thread")

        title = d.pop("title")

        def _parse_closed_because(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        closed_because = _parse_closed_because(d.pop("closed_because", UNSET))

        def _parse_harvest(data: object) -> Harvest | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                harvest_type_0 = Harvest.from_dict(data)

                return harvest_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Harvest | None | Unset, data)

        harvest = _parse_harvest(d.pop("harvest", UNSET))

        def _parse_holder(data: object) -> None | PieceHolder | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                holder_type_0 = PieceHolder.from_dict(data)

                return holder_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PieceHolder | Unset, data)

        holder = _parse_holder(d.pop("holder", UNSET))

        def _parse_next_beat_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        next_beat_at = _parse_next_beat_at(d.pop("next_beat_at", UNSET))

        def _parse_phase(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        phase = _parse_phase(d.pop("phase", UNSET))

        def _parse_pulse(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        pulse = _parse_pulse(d.pop("pulse", UNSET))

        def _parse_rule(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        rule = _parse_rule(d.pop("rule", UNSET))

        def _parse_seed(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        seed = _parse_seed(d.pop("seed", UNSET))

        def _parse_since(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        since = _parse_since(d.pop("since", UNSET))

        gathering_answer = cls(
            beat=beat,
            beat_interval_seconds=beat_interval_seconds,
            beats=beats,
            beats_per_turn=beats_per_turn,
            breath=breath,
            delivery=delivery,
            id=id,
            last_word=last_word,
            last_word_seconds=last_word_seconds,
            opening_question=opening_question,
            order=order,
            participants=participants,
            pass_asked=pass_asked,
            rhythm=rhythm,
            round_=round_,
            rounds=rounds,
            status=status,
            stopped=stopped,
            thread=thread,
            title=title,
            closed_because=closed_because,
            harvest=harvest,
            holder=holder,
            next_beat_at=next_beat_at,
            phase=phase,
            pulse=pulse,
            rule=rule,
            seed=seed,
            since=since,
        )

        gathering_answer.additional_properties = d
        return gathering_answer

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
