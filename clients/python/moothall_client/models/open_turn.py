from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.cause_ref import CauseRef


T = TypeVar("T", bound="OpenTurn")


@_attrs_define
class OpenTurn:
    """A turn that was granted and has not ended.

    Attributes:
        attempt (int): Number of the attempt that runs or comes next.
        cause (CauseRef): A reference to the event that caused something.
        deadline (str): Time at which the turn ends by itself.
        granted_at (str): Time of the grant.
        id (str): Id of the turn: `<thread>.<number>`.
        may_pass (bool): True if the participant may pass.
        participant (str): Id of the turn's participant.
        state (str): `waiting` until the runtime accepts the turn, then `running`.
        why (str): Reason of the grant.
        released (bool | Unset): True if the floor no longer waits for the turn.
        works_since (None | str | Unset): Start of the work, moved later by the time spent waiting for permissions.
            Absent while the
            turn waits.
    """

    attempt: int
    cause: CauseRef
    deadline: str
    granted_at: str
    id: str
    may_pass: bool
    participant: str
    state: str
    why: str
    released: bool | Unset = UNSET
    works_since: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attempt = self.attempt

        cause = self.cause.to_dict()

        deadline = self.deadline

        granted_at = self.granted_at

        id = self.id

        may_pass = self.may_pass

        participant = self.participant

        state = self.state

        why = self.why

        released = self.released

        works_since: None | str | Unset
        if isinstance(self.works_since, Unset):
            works_since = UNSET
        else:
            works_since = self.works_since

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempt": attempt,
                "cause": cause,
                "deadline": deadline,
                "granted_at": granted_at,
                "id": id,
                "may_pass": may_pass,
                "participant": participant,
                "state": state,
                "why": why,
            }
        )
        if released is not UNSET:
            field_dict["released"] = released
        if works_since is not UNSET:
            field_dict["works_since"] = works_since

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cause_ref import CauseRef  # noqa: PLC0415

        d = dict(src_dict)
        attempt = d.pop("attempt")

        cause = CauseRef.from_dict(d.pop("cause"))

        deadline = d.pop("deadline")

        granted_at = d.pop("granted_at")

        id = d.pop("id")

        may_pass = d.pop("may_pass")

        participant = d.pop("participant")

        state = d.pop("state")

        why = d.pop("why")

        released = d.pop("released", UNSET)

        def _parse_works_since(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        works_since = _parse_works_since(d.pop("works_since", UNSET))

        open_turn = cls(
            attempt=attempt,
            cause=cause,
            deadline=deadline,
            granted_at=granted_at,
            id=id,
            may_pass=may_pass,
            participant=participant,
            state=state,
            why=why,
            released=released,
            works_since=works_since,
        )

        open_turn.additional_properties = d
        return open_turn

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
