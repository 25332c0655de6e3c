from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.envelope import Envelope


T = TypeVar("T", bound="NeedEntry")


@_attrs_define
class NeedEntry:
    """Something that waits for the reader.

    Attributes:
        id (str): Id of the entry. It stays the same for as long as the entry waits.
        kind (str): Kind of the entry: `permission`, `question`, `guard`, `piece`, `harvest`, `failure`,
            `mention` or `missed`.
        thread (str): Id of the thread.
        title (str): Title of the thread.
        earlier (int | None | Unset): Number of earlier unseen messages to the reader.
        event (Envelope | None | Unset):
        guard (None | str | Unset): Guard that holds the floor: `exchanges`, `pair`, `repeat` or `stopped`.
        name (None | str | Unset): Name of that participant.
        participant (None | str | Unset): Id of the participant that asks, failed or wrote; absent for a guard and the
            piece.
        passed_at (int | None | Unset): Position with which the reader's mark passes the entry; absent if it waits for
            an answer.
        permission (None | str | Unset): Id of the permission by which a question is answered.
        since (None | str | Unset): Start of the wait; absent if not known.
    """

    id: str
    kind: str
    thread: str
    title: str
    earlier: int | None | Unset = UNSET
    event: Envelope | None | Unset = UNSET
    guard: None | str | Unset = UNSET
    name: None | str | Unset = UNSET
    participant: None | str | Unset = UNSET
    passed_at: int | None | Unset = UNSET
    permission: None | str | Unset = UNSET
    since: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.envelope import Envelope  # noqa: PLC0415

        id = self.id

        kind = self.kind

        thread = self.thread

        title = self.title

        earlier: int | None | Unset
        if isinstance(self.earlier, Unset):
            earlier = UNSET
        else:
            earlier = self.earlier

        event: dict[str, Any] | None | Unset
        if isinstance(self.event, Unset):
            event = UNSET
        elif isinstance(self.event, Envelope):
            event = self.event.to_dict()
        else:
            event = self.event

        guard: None | str | Unset
        if isinstance(self.guard, Unset):
            guard = UNSET
        else:
            guard = self.guard

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        participant: None | str | Unset
        if isinstance(self.participant, Unset):
            participant = UNSET
        else:
            participant = self.participant

        passed_at: int | None | Unset
        if isinstance(self.passed_at, Unset):
            passed_at = UNSET
        else:
            passed_at = self.passed_at

        permission: None | str | Unset
        if isinstance(self.permission, Unset):
            permission = UNSET
        else:
            permission = self.permission

        since: None | str | Unset
        if isinstance(self.since, Unset):
            since = UNSET
        else:
            since = self.since

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "thread": thread,
                "title": title,
            }
        )
        if earlier is not UNSET:
            field_dict["earlier"] = earlier
        if event is not UNSET:
            field_dict["event"] = event
        if guard is not UNSET:
            field_dict["guard"] = guard
        if name is not UNSET:
            field_dict["name"] = name
        if participant is not UNSET:
            field_dict["participant"] = participant
        if passed_at is not UNSET:
            field_dict["passed_at"] = passed_at
        if permission is not UNSET:
            field_dict["permission"] = permission
        if since is not UNSET:
            field_dict["since"] = since

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.envelope import Envelope  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        kind = d.pop("kind")

        thread = d.pop("thread")

        title = d.pop("title")

        def _parse_earlier(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        earlier = _parse_earlier(d.pop("earlier", UNSET))

        def _parse_event(data: object) -> Envelope | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                event_type_0 = Envelope.from_dict(data)

                return event_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Envelope | None | Unset, data)

        event = _parse_event(d.pop("event", UNSET))

        def _parse_guard(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        guard = _parse_guard(d.pop("guard", UNSET))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_participant(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        participant = _parse_participant(d.pop("participant", UNSET))

        def _parse_passed_at(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        passed_at = _parse_passed_at(d.pop("passed_at", UNSET))

        def _parse_permission(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        permission = _parse_permission(d.pop("permission", UNSET))

        def _parse_since(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        since = _parse_since(d.pop("since", UNSET))

        need_entry = cls(
            id=id,
            kind=kind,
            thread=thread,
            title=title,
            earlier=earlier,
            event=event,
            guard=guard,
            name=name,
            participant=participant,
            passed_at=passed_at,
            permission=permission,
            since=since,
        )

        need_entry.additional_properties = d
        return need_entry

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
