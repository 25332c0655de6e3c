from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.asked_ref import AskedRef
    from ..models.cause_ref import CauseRef
    from ..models.discussion_state import DiscussionState
    from ..models.open_turn import OpenTurn
    from ..models.participants_state import ParticipantsState
    from ..models.switch_state import SwitchState
    from ..models.thread_state_policy import ThreadStatePolicy
    from ..models.upcoming_entry import UpcomingEntry


T = TypeVar("T", bound="ThreadState")


@_attrs_define
class ThreadState:
    """The current state of a thread.

    Attributes:
        archived (bool): True if the thread takes no more messages.
        discussion (DiscussionState): The two switches for agents' mentions. Both have to be on.
        invited_auto (SwitchState): A setting that is on or off.
        muted (list[str]): Ids of muted participants, sorted.
        participants (ParticipantsState): The participants of a thread.
        paused (bool): True if the thread is paused: no agent gets a turn.
        policy (ThreadStatePolicy): The policy with all its settings.
        questions (list[AskedRef]): Questions of agents' programs outside of a turn, such as trust in a folder, each of
            which
            waits for a person's answer.
        queue (list[CauseRef]): Human messages that wait until earlier ones are answered, in order.
        replies (int): Number of visible agent replies to the current message.
        replies_max (int): Maximum of `replies`.
        starts (list[AskedRef]): Agents' requests to start a program or to talk to a session, each of which waits for a
            person's answer.
        turns (list[OpenTurn]): Turns that were granted and have not ended.
        upcoming (list[UpcomingEntry]): Agents still to be asked about the current message.
        chats (list[str] | Unset): Chats outside of the server to which the thread is bound, such as `telegram:-100123`.
        held (None | str | Unset): Guard that holds the floor: `exchanges`, `pair`, `repeat` or `stopped`; `null` if
            there is
            none.
    """

    archived: bool
    discussion: DiscussionState
    invited_auto: SwitchState
    muted: list[str]
    participants: ParticipantsState
    paused: bool
    policy: ThreadStatePolicy
    questions: list[AskedRef]
    queue: list[CauseRef]
    replies: int
    replies_max: int
    starts: list[AskedRef]
    turns: list[OpenTurn]
    upcoming: list[UpcomingEntry]
    chats: list[str] | Unset = UNSET
    held: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        archived = self.archived

        discussion = self.discussion.to_dict()

        invited_auto = self.invited_auto.to_dict()

        muted = self.muted

        participants = self.participants.to_dict()

        paused = self.paused

        policy = self.policy.to_dict()

        questions = []
        for questions_item_data in self.questions:
            questions_item = questions_item_data.to_dict()
            questions.append(questions_item)

        queue = []
        for queue_item_data in self.queue:
            queue_item = queue_item_data.to_dict()
            queue.append(queue_item)

        replies = self.replies

        replies_max = self.replies_max

        starts = []
        for starts_item_data in self.starts:
            starts_item = starts_item_data.to_dict()
            starts.append(starts_item)

        turns = []
        for turns_item_data in self.turns:
            turns_item = turns_item_data.to_dict()
            turns.append(turns_item)

        upcoming = []
        for upcoming_item_data in self.upcoming:
            upcoming_item = upcoming_item_data.to_dict()
            upcoming.append(upcoming_item)

        chats: list[str] | Unset = UNSET
        if not isinstance(self.chats, Unset):
            chats = self.chats

        held: None | str | Unset
        if isinstance(self.held, Unset):
            held = UNSET
        else:
            held = self.held

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "archived": archived,
                "discussion": discussion,
                "invited_auto": invited_auto,
                "muted": muted,
                "participants": participants,
                "paused": paused,
                "policy": policy,
                "questions": questions,
                "queue": queue,
                "replies": replies,
                "replies_max": replies_max,
                "starts": starts,
                "turns": turns,
                "upcoming": upcoming,
            }
        )
        if chats is not UNSET:
            field_dict["chats"] = chats
        if held is not UNSET:
            field_dict["held"] = held

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.asked_ref import AskedRef  # noqa: PLC0415
        from ..models.cause_ref import CauseRef  # noqa: PLC0415
        from ..models.discussion_state import DiscussionState  # noqa: PLC0415
        from ..models.open_turn import OpenTurn  # noqa: PLC0415
        from ..models.participants_state import ParticipantsState  # noqa: PLC0415
        from ..models.switch_state import SwitchState  # noqa: PLC0415
        from ..models.thread_state_policy import ThreadStatePolicy  # noqa: PLC0415
        from ..models.upcoming_entry import UpcomingEntry  # noqa: PLC0415

        d = dict(src_dict)
        archived = d.pop("archived")

        discussion = DiscussionState.from_dict(d.pop("discussion"))

        invited_auto = SwitchState.from_dict(d.pop("invited_auto"))

        muted = cast(list[str], d.pop("muted"))

        participants = ParticipantsState.from_dict(d.pop("participants"))

        paused = d.pop("paused")

        policy = ThreadStatePolicy.from_dict(d.pop("policy"))

        questions = []
        _questions = d.pop("questions")
        for questions_item_data in _questions:
            questions_item = AskedRef.from_dict(questions_item_data)

            questions.append(questions_item)

        queue = []
        _queue = d.pop("queue")
        for queue_item_data in _queue:
            queue_item = CauseRef.from_dict(queue_item_data)

            queue.append(queue_item)

        replies = d.pop("replies")

        replies_max = d.pop("replies_max")

        starts = []
        _starts = d.pop("starts")
        for starts_item_data in _starts:
            starts_item = AskedRef.from_dict(starts_item_data)

            starts.append(starts_item)

        turns = []
        _turns = d.pop("turns")
        for turns_item_data in _turns:
            turns_item = OpenTurn.from_dict(turns_item_data)

            turns.append(turns_item)

        upcoming = []
        _upcoming = d.pop("upcoming")
        for upcoming_item_data in _upcoming:
            upcoming_item = UpcomingEntry.from_dict(upcoming_item_data)

            upcoming.append(upcoming_item)

        chats = cast(list[str], d.pop("chats", UNSET))

        def _parse_held(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        held = _parse_held(d.pop("held", UNSET))

        thread_state = cls(
            archived=archived,
            discussion=discussion,
            invited_auto=invited_auto,
            muted=muted,
            participants=participants,
            paused=paused,
            policy=policy,
            questions=questions,
            queue=queue,
            replies=replies,
            replies_max=replies_max,
            starts=starts,
            turns=turns,
            upcoming=upcoming,
            chats=chats,
            held=held,
        )

        thread_state.additional_properties = d
        return thread_state

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
