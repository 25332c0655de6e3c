from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="GuardLift")


@_attrs_define
class GuardLift:
    """The remedy for a guard.

    Attributes:
        by (str): Kind of the remedy: `resume`, `unmute`, `config`, `stop`, `raise` (a budget), `words` (of a
            person) or `time`.
        proof (bool): True if the remedy needs a person's credential.
        command (None | str | Unset): Slash command of the remedy in the thread, such as `/resume`; absent if there is
            none.
        words_left (int | None | Unset): Number of times that a person without a credential can still lift the guard by
            speaking
            within the hour; absent if words do not lift it.
    """

    by: str
    proof: bool
    command: None | str | Unset = UNSET
    words_left: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        by = self.by

        proof = self.proof

        command: None | str | Unset
        if isinstance(self.command, Unset):
            command = UNSET
        else:
            command = self.command

        words_left: int | None | Unset
        if isinstance(self.words_left, Unset):
            words_left = UNSET
        else:
            words_left = self.words_left

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "by": by,
                "proof": proof,
            }
        )
        if command is not UNSET:
            field_dict["command"] = command
        if words_left is not UNSET:
            field_dict["words_left"] = words_left

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        by = d.pop("by")

        proof = d.pop("proof")

        def _parse_command(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        command = _parse_command(d.pop("command", UNSET))

        def _parse_words_left(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        words_left = _parse_words_left(d.pop("words_left", UNSET))

        guard_lift = cls(
            by=by,
            proof=proof,
            command=command,
            words_left=words_left,
        )

        guard_lift.additional_properties = d
        return guard_lift

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
