from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.occupation_entry import OccupationEntry
    from ..models.wire_profile import WireProfile


T = TypeVar("T", bound="InvitedEntry")


@_attrs_define
class InvitedEntry:
    """A participant of a thread.

    Attributes:
        color (int): Index in the order of invitations, from 0. Views choose a colour by it.
        id (str): Id of the participant.
        invited_at (str): Time of the first invite.
        invited_by (str): Id of the participant that invited this one first.
        kind (str): `human` or `agent`.
        known (bool): True if the registry knows the participant's client; always `true` for people.
        profile (WireProfile): The profile of a participant, from its invites.
        doing (None | OccupationEntry | Unset):
        full_name (None | str | Unset): The name by which people write a session of another computer, such as
            `builder@workstation`.
        reach (None | str | Unset): Group whose words reach the participant's terminal: `writers`, or `drivers` alone.
            Absent
            without a terminal.
        runtime (None | str | Unset): Runtime of the agent; `null` for people.
    """

    color: int
    id: str
    invited_at: str
    invited_by: str
    kind: str
    known: bool
    profile: WireProfile
    doing: None | OccupationEntry | Unset = UNSET
    full_name: None | str | Unset = UNSET
    reach: None | str | Unset = UNSET
    runtime: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.occupation_entry import OccupationEntry  # noqa: PLC0415

        color = self.color

        id = self.id

        invited_at = self.invited_at

        invited_by = self.invited_by

        kind = self.kind

        known = self.known

        profile = self.profile.to_dict()

        doing: dict[str, Any] | None | Unset
        if isinstance(self.doing, Unset):
            doing = UNSET
        elif isinstance(self.doing, OccupationEntry):
            doing = self.doing.to_dict()
        else:
            doing = self.doing

        full_name: None | str | Unset
        if isinstance(self.full_name, Unset):
            full_name = UNSET
        else:
            full_name = self.full_name

        reach: None | str | Unset
        if isinstance(self.reach, Unset):
            reach = UNSET
        else:
            reach = self.reach

        runtime: None | str | Unset
        if isinstance(self.runtime, Unset):
            runtime = UNSET
        else:
            runtime = self.runtime

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "color": color,
                "id": id,
                "invited_at": invited_at,
                "invited_by": invited_by,
                "kind": kind,
                "known": known,
                "profile": profile,
            }
        )
        if doing is not UNSET:
            field_dict["doing"] = doing
        if full_name is not UNSET:
            field_dict["full_name"] = full_name
        if reach is not UNSET:
            field_dict["reach"] = reach
        if runtime is not UNSET:
            field_dict["runtime"] = runtime

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.occupation_entry import OccupationEntry  # noqa: PLC0415
        from ..models.wire_profile import WireProfile  # noqa: PLC0415

        d = dict(src_dict)
        color = d.pop("color")

        id = d.pop("id")

        invited_at = d.pop("invited_at")

        invited_by = d.pop("invited_by")

        kind = d.pop("kind")

        known = d.pop("known")

        profile = WireProfile.from_dict(d.pop("profile"))

        def _parse_doing(data: object) -> None | OccupationEntry | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                doing_type_0 = OccupationEntry.from_dict(data)

                return doing_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OccupationEntry | Unset, data)

        doing = _parse_doing(d.pop("doing", UNSET))

        def _parse_full_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        full_name = _parse_full_name(d.pop("full_name", UNSET))

        def _parse_reach(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reach = _parse_reach(d.pop("reach", UNSET))

        def _parse_runtime(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        runtime = _parse_runtime(d.pop("runtime", UNSET))

        invited_entry = cls(
            color=color,
            id=id,
            invited_at=invited_at,
            invited_by=invited_by,
            kind=kind,
            known=known,
            profile=profile,
            doing=doing,
            full_name=full_name,
            reach=reach,
            runtime=runtime,
        )

        invited_entry.additional_properties = d
        return invited_entry

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
