from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.wire_profile import WireProfile


T = TypeVar("T", bound="AgentEntry")


@_attrs_define
class AgentEntry:
    """An agent of the registry.

    Attributes:
        client (str): What an invite's `client` says.
        origin (str): `built-in`, `configured` or `discovered`.
        profile (WireProfile): What an invite says about a participant.
        runtime (str): `script`, `command`, `llm`, `terminal` or `remote`.
        summary (str): One sentence about it.
        timeout_seconds (float): How long a turn of it may take.
    """

    client: str
    origin: str
    profile: WireProfile
    runtime: str
    summary: str
    timeout_seconds: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        client = self.client

        origin = self.origin

        profile = self.profile.to_dict()

        runtime = self.runtime

        summary = self.summary

        timeout_seconds = self.timeout_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "client": client,
                "origin": origin,
                "profile": profile,
                "runtime": runtime,
                "summary": summary,
                "timeout_seconds": timeout_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.wire_profile import WireProfile  # noqa: PLC0415

        d = dict(src_dict)
        client = d.pop("client")

        origin = d.pop("origin")

        profile = WireProfile.from_dict(d.pop("profile"))

        runtime = d.pop("runtime")

        summary = d.pop("summary")

        timeout_seconds = d.pop("timeout_seconds")

        agent_entry = cls(
            client=client,
            origin=origin,
            profile=profile,
            runtime=runtime,
            summary=summary,
            timeout_seconds=timeout_seconds,
        )

        agent_entry.additional_properties = d
        return agent_entry

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
