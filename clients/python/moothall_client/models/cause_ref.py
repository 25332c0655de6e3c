from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CauseRef")


@_attrs_define
class CauseRef:
    """A reference to the event that caused something.

    Attributes:
        depth (int): Number of steps from a human message to this event; 0 for the human message.
        from_ (str): Id of the participant that the event comes from.
        id (str): Id of the event.
        seq (int): Position of the event in its thread.
    """

    depth: int
    from_: str
    id: str
    seq: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        depth = self.depth

        from_ = self.from_

        id = self.id

        seq = self.seq

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "depth": depth,
                "from": from_,
                "id": id,
                "seq": seq,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        depth = d.pop("depth")

        from_ = d.pop("from")

        id = d.pop("id")

        seq = d.pop("seq")

        cause_ref = cls(
            depth=depth,
            from_=from_,
            id=id,
            seq=seq,
        )

        cause_ref.additional_properties = d
        return cause_ref

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
