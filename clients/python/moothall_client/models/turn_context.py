from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.cause_ref import CauseRef


T = TypeVar("T", bound="TurnContext")


@_attrs_define
class TurnContext:
    """An open turn with the text for its participant: the answer of `GET /turns/{id}/context`, and the
    `turn` event in the stream of a remote participant.

        Attributes:
            cause (CauseRef): A reference to the event that caused something.
            deadline (str): Time at which the turn ends without an answer.
            kind (str): `reply`, or `listen`: the words of such a turn stay in the trace.
            may_pass (bool): True if the participant may pass.
            participant (str): Id of the turn's participant.
            system (str): Description of the participant, of the other participants and of the rules.
            text (str): Messages since the participant's last turn, at most 96 KiB, and the request. Others' words
                are data.
            turn (str): Id of the turn: `<thread>.<number>`.
            why (str): Reason of the grant: `forced`, `polled`, `reaction`, `round`, `piece`, `beat`, `link`,
                `prod` or `outcome`.
    """

    cause: CauseRef
    deadline: str
    kind: str
    may_pass: bool
    participant: str
    system: str
    text: str
    turn: str
    why: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cause = self.cause.to_dict()

        deadline = self.deadline

        kind = self.kind

        may_pass = self.may_pass

        participant = self.participant

        system = self.system

        text = self.text

        turn = self.turn

        why = self.why

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cause": cause,
                "deadline": deadline,
                "kind": kind,
                "may_pass": may_pass,
                "participant": participant,
                "system": system,
                "text": text,
                "turn": turn,
                "why": why,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cause_ref import CauseRef  # noqa: PLC0415

        d = dict(src_dict)
        cause = CauseRef.from_dict(d.pop("cause"))

        deadline = d.pop("deadline")

        kind = d.pop("kind")

        may_pass = d.pop("may_pass")

        participant = d.pop("participant")

        system = d.pop("system")

        text = d.pop("text")

        turn = d.pop("turn")

        why = d.pop("why")

        turn_context = cls(
            cause=cause,
            deadline=deadline,
            kind=kind,
            may_pass=may_pass,
            participant=participant,
            system=system,
            text=text,
            turn=turn,
            why=why,
        )

        turn_context.additional_properties = d
        return turn_context

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
