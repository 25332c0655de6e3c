from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.wire_profile import WireProfile


T = TypeVar("T", bound="AgentEntry")


@_attrs_define
class AgentEntry:
    """An agent of the registry.

    Attributes:
        client (str): Name of the agent, for `client` of an invite.
        origin (str): Origin of the agent: `built-in`, `configured` or `discovered`.
        profile (WireProfile): The profile of a participant, from its invites.
        runtime (str): Runtime of the agent: `script`, `command`, `llm`, `terminal` or `remote`.
        summary (str): Description of the agent, in one sentence.
        timeout_seconds (float): Maximum seconds for one turn of the agent.
        run_as (None | str | Unset): User of the server's computer that the agent's programs run as; absent if it is the
            server's
            own. In that case a `command` or `terminal` agent reaches all of the server's data.
    """

    client: str
    origin: str
    profile: WireProfile
    runtime: str
    summary: str
    timeout_seconds: float
    run_as: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        client = self.client

        origin = self.origin

        profile = self.profile.to_dict()

        runtime = self.runtime

        summary = self.summary

        timeout_seconds = self.timeout_seconds

        run_as: None | str | Unset
        if isinstance(self.run_as, Unset):
            run_as = UNSET
        else:
            run_as = self.run_as

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
        if run_as is not UNSET:
            field_dict["run_as"] = run_as

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

        def _parse_run_as(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        run_as = _parse_run_as(d.pop("run_as", UNSET))

        agent_entry = cls(
            client=client,
            origin=origin,
            profile=profile,
            runtime=runtime,
            summary=summary,
            timeout_seconds=timeout_seconds,
            run_as=run_as,
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
