from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AgentFreed")


@_attrs_define
class AgentFreed:
    """Answer of `POST /registrations/{agent}/free`.

    Attributes:
        freed (bool): Always `true`.
        id (str): Former id of the agent. No other agent gets it.
        name (str): The name, which can be registered again.
    """

    freed: bool
    id: str
    name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        freed = self.freed

        id = self.id

        name = self.name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "freed": freed,
                "id": id,
                "name": name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        freed = d.pop("freed")

        id = d.pop("id")

        name = d.pop("name")

        agent_freed = cls(
            freed=freed,
            id=id,
            name=name,
        )

        agent_freed.additional_properties = d
        return agent_freed

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
