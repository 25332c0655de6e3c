from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AgentRevoked")


@_attrs_define
class AgentRevoked:
    """Answer of `POST /registrations/{agent}/revoke`.

    Attributes:
        changed (bool): True if a key was valid before.
        id (str): Id of the agent.
        name (str): Name of the agent.
        revoked (bool): Always `true`: none of the agent's keys is valid.
    """

    changed: bool
    id: str
    name: str
    revoked: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        changed = self.changed

        id = self.id

        name = self.name

        revoked = self.revoked

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "changed": changed,
                "id": id,
                "name": name,
                "revoked": revoked,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        changed = d.pop("changed")

        id = d.pop("id")

        name = d.pop("name")

        revoked = d.pop("revoked")

        agent_revoked = cls(
            changed=changed,
            id=id,
            name=name,
            revoked=revoked,
        )

        agent_revoked.additional_properties = d
        return agent_revoked

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
