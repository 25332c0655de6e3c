from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.cause_ref import CauseRef
    from ..models.wire_fault import WireFault
    from ..models.wire_usage import WireUsage


T = TypeVar("T", bound="TurnEntry")


@_attrs_define
class TurnEntry:
    """A turn, or the reason why an agent got none.

    Attributes:
        attempt (int): Number of the last attempt, from 1; 0 without a turn.
        cause (CauseRef): A reference to the event that caused something.
        granted_at (str): Time of the grant or of the refusal.
        may_pass (bool): True if the agent might pass.
        participant (str): Id of the agent that was asked or not asked.
        also_about (list[str] | Unset): Ids of earlier messages that the turn is about as well. A waiting turn can take
            up further
            messages.
        asks (None | str | Unset): The action for which the agent asks a person's permission now; absent if it asks for
            none.
        detail (None | str | Unset): Further words about the reason; `null` if there are none.
        ended (None | str | Unset): End of the model's answer: `stop`, `length` (a limit of tokens), `filter`,
            `refusal`,
            `tool`, `error` or `cut`. Absent if the provider does not report it.
        ended_at (None | str | Unset): Time at which the turn ended; `null` for an open turn and without a turn.
        fault (None | Unset | WireFault):
        from_seq (int | None | Unset): Position after which the turn's events begin, exclusive.
        id (None | str | Unset): Id of the turn; `null` for an agent that was not asked.
        listens (bool | Unset): True if the agent only listens: its words are not asked for, and not shown.
        message (None | str | Unset): Id of the newest human message in the chain of causes; `null` if there is none.
        outcome (None | str | Unset): Outcome of the turn: `spoke`, `passed`, `failed`, `expired` or `cancelled`; `null`
            for an
            open turn and without a turn.
        reason (None | str | Unset): A phrase for people that follows the agent's name, from `why` or `why_not`.
        released_at (None | str | Unset): Time from which the floor no longer waited for the turn; `null` if it always
            waited.
        reply (None | str | Unset): Id of the event with the agent's answer; `null` if there is none.
        started_at (None | str | Unset): Time at which the runtime accepted the turn; `null` before.
        through_seq (int | None | Unset): Position with which the turn's events end, inclusive.
        usage (None | Unset | WireUsage):
        why (None | str | Unset): Reason of the grant: `forced`, `polled`, `reaction`, `round`, `piece`, `beat`, `link`,
            `prod` or `outcome`.
        why_not (None | str | Unset): Reason of the silence: a word from the table of reasons in `docs/rules.md`, such
            as
            `passed`, `capped`, `muted`, or `waiting` while only a cooldown delays an agent that must
            answer.
    """

    attempt: int
    cause: CauseRef
    granted_at: str
    may_pass: bool
    participant: str
    also_about: list[str] | Unset = UNSET
    asks: None | str | Unset = UNSET
    detail: None | str | Unset = UNSET
    ended: None | str | Unset = UNSET
    ended_at: None | str | Unset = UNSET
    fault: None | Unset | WireFault = UNSET
    from_seq: int | None | Unset = UNSET
    id: None | str | Unset = UNSET
    listens: bool | Unset = UNSET
    message: None | str | Unset = UNSET
    outcome: None | str | Unset = UNSET
    reason: None | str | Unset = UNSET
    released_at: None | str | Unset = UNSET
    reply: None | str | Unset = UNSET
    started_at: None | str | Unset = UNSET
    through_seq: int | None | Unset = UNSET
    usage: None | Unset | WireUsage = UNSET
    why: None | str | Unset = UNSET
    why_not: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.wire_fault import WireFault  # noqa: PLC0415
        from ..models.wire_usage import WireUsage  # noqa: PLC0415

        attempt = self.attempt

        cause = self.cause.to_dict()

        granted_at = self.granted_at

        may_pass = self.may_pass

        participant = self.participant

        also_about: list[str] | Unset = UNSET
        if not isinstance(self.also_about, Unset):
            also_about = self.also_about

        asks: None | str | Unset
        if isinstance(self.asks, Unset):
            asks = UNSET
        else:
            asks = self.asks

        detail: None | str | Unset
        if isinstance(self.detail, Unset):
            detail = UNSET
        else:
            detail = self.detail

        ended: None | str | Unset
        if isinstance(self.ended, Unset):
            ended = UNSET
        else:
            ended = self.ended

        ended_at: None | str | Unset
        if isinstance(self.ended_at, Unset):
            ended_at = UNSET
        else:
            ended_at = self.ended_at

        fault: dict[str, Any] | None | Unset
        if isinstance(self.fault, Unset):
            fault = UNSET
        elif isinstance(self.fault, WireFault):
            fault = self.fault.to_dict()
        else:
            fault = self.fault

        from_seq: int | None | Unset
        if isinstance(self.from_seq, Unset):
            from_seq = UNSET
        else:
            from_seq = self.from_seq

        id: None | str | Unset
        if isinstance(self.id, Unset):
            id = UNSET
        else:
            id = self.id

        listens = self.listens

        message: None | str | Unset
        if isinstance(self.message, Unset):
            message = UNSET
        else:
            message = self.message

        outcome: None | str | Unset
        if isinstance(self.outcome, Unset):
            outcome = UNSET
        else:
            outcome = self.outcome

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        released_at: None | str | Unset
        if isinstance(self.released_at, Unset):
            released_at = UNSET
        else:
            released_at = self.released_at

        reply: None | str | Unset
        if isinstance(self.reply, Unset):
            reply = UNSET
        else:
            reply = self.reply

        started_at: None | str | Unset
        if isinstance(self.started_at, Unset):
            started_at = UNSET
        else:
            started_at = self.started_at

        through_seq: int | None | Unset
        if isinstance(self.through_seq, Unset):
            through_seq = UNSET
        else:
            through_seq = self.through_seq

        usage: dict[str, Any] | None | Unset
        if isinstance(self.usage, Unset):
            usage = UNSET
        elif isinstance(self.usage, WireUsage):
            usage = self.usage.to_dict()
        else:
            usage = self.usage

        why: None | str | Unset
        if isinstance(self.why, Unset):
            why = UNSET
        else:
            why = self.why

        why_not: None | str | Unset
        if isinstance(self.why_not, Unset):
            why_not = UNSET
        else:
            why_not = self.why_not

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempt": attempt,
                "cause": cause,
                "granted_at": granted_at,
                "may_pass": may_pass,
                "participant": participant,
            }
        )
        if also_about is not UNSET:
            field_dict["also_about"] = also_about
        if asks is not UNSET:
            field_dict["asks"] = asks
        if detail is not UNSET:
            field_dict["detail"] = detail
        if ended is not UNSET:
            field_dict["ended"] = ended
        if ended_at is not UNSET:
            field_dict["ended_at"] = ended_at
        if fault is not UNSET:
            field_dict["fault"] = fault
        if from_seq is not UNSET:
            field_dict["from_seq"] = from_seq
        if id is not UNSET:
            field_dict["id"] = id
        if listens is not UNSET:
            field_dict["listens"] = listens
        if message is not UNSET:
            field_dict["message"] = message
        if outcome is not UNSET:
            field_dict["outcome"] = outcome
        if reason is not UNSET:
            field_dict["reason"] = reason
        if released_at is not UNSET:
            field_dict["released_at"] = released_at
        if reply is not UNSET:
            field_dict["reply"] = reply
        if started_at is not UNSET:
            field_dict["started_at"] = started_at
        if through_seq is not UNSET:
            field_dict["through_seq"] = through_seq
        if usage is not UNSET:
            field_dict["usage"] = usage
        if why is not UNSET:
            field_dict["why"] = why
        if why_not is not UNSET:
            field_dict["why_not"] = why_not

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cause_ref import CauseRef  # noqa: PLC0415
        from ..models.wire_fault import WireFault  # noqa: PLC0415
        from ..models.wire_usage import WireUsage  # noqa: PLC0415

        d = dict(src_dict)
        attempt = d.pop("attempt")

        cause = CauseRef.from_dict(d.pop("cause"))

        granted_at = d.pop("granted_at")

        may_pass = d.pop("may_pass")

        participant = d.pop("participant")

        also_about = cast(list[str], d.pop("also_about", UNSET))

        def _parse_asks(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        asks = _parse_asks(d.pop("asks", UNSET))

        def _parse_detail(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        detail = _parse_detail(d.pop("detail", UNSET))

        def _parse_ended(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        ended = _parse_ended(d.pop("ended", UNSET))

        def _parse_ended_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        ended_at = _parse_ended_at(d.pop("ended_at", UNSET))

        def _parse_fault(data: object) -> None | Unset | WireFault:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                fault_type_0 = WireFault.from_dict(data)

                return fault_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | WireFault, data)

        fault = _parse_fault(d.pop("fault", UNSET))

        def _parse_from_seq(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        from_seq = _parse_from_seq(d.pop("from_seq", UNSET))

        def _parse_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        id = _parse_id(d.pop("id", UNSET))

        listens = d.pop("listens", UNSET)

        def _parse_message(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        message = _parse_message(d.pop("message", UNSET))

        def _parse_outcome(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        outcome = _parse_outcome(d.pop("outcome", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        def _parse_released_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        released_at = _parse_released_at(d.pop("released_at", UNSET))

        def _parse_reply(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reply = _parse_reply(d.pop("reply", UNSET))

        def _parse_started_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        started_at = _parse_started_at(d.pop("started_at", UNSET))

        def _parse_through_seq(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        through_seq = _parse_through_seq(d.pop("through_seq", UNSET))

        def _parse_usage(data: object) -> None | Unset | WireUsage:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                usage_type_0 = WireUsage.from_dict(data)

                return usage_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | WireUsage, data)

        usage = _parse_usage(d.pop("usage", UNSET))

        def _parse_why(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        why = _parse_why(d.pop("why", UNSET))

        def _parse_why_not(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        why_not = _parse_why_not(d.pop("why_not", UNSET))

        turn_entry = cls(
            attempt=attempt,
            cause=cause,
            granted_at=granted_at,
            may_pass=may_pass,
            participant=participant,
            also_about=also_about,
            asks=asks,
            detail=detail,
            ended=ended,
            ended_at=ended_at,
            fault=fault,
            from_seq=from_seq,
            id=id,
            listens=listens,
            message=message,
            outcome=outcome,
            reason=reason,
            released_at=released_at,
            reply=reply,
            started_at=started_at,
            through_seq=through_seq,
            usage=usage,
            why=why,
            why_not=why_not,
        )

        turn_entry.additional_properties = d
        return turn_entry

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
