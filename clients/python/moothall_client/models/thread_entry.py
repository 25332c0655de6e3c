from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.last_message import LastMessage
    from ..models.thread_entry_names import ThreadEntryNames


T = TypeVar("T", bound="ThreadEntry")


@_attrs_define
class ThreadEntry:
    """A thread in a list.

    Attributes:
        archived (bool): True if the thread takes no more messages.
        created_at (str): Time at which the thread was created.
        head (int): Position of the thread's newest event.
        id (str): Id of the thread.
        name (str): Title of the thread.
        policy (str): Name of the thread's policy.
        updated_at (str): Time of the thread's newest event.
        direct (bool | None | Unset): True if an unread message is addressed to the participant named by `as`, or names
            it, with
            `lines`. Only the newest 40 messages count.
        last (LastMessage | None | Unset):
        names (ThreadEntryNames | Unset): Names of participants that differ from their ids, by id, with `lines`.
        read (int | None | Unset): Position up to which the participant named by `as` has read the thread.
        unread (int | None | Unset): Number of messages of others after `read`; 100 stands for 100 or more.
        waits_for_people (int | None | Unset): Number of things in the thread that wait for a person: permissions, a
            guard that holds the
            floor, and a gathering that waits for a person's words. Absent if an earlier version of the
            server wrote to the thread last.
    """

    archived: bool
    created_at: str
    head: int
    id: str
    name: str
    policy: str
    updated_at: str
    direct: bool | None | Unset = UNSET
    last: LastMessage | None | Unset = UNSET
    names: ThreadEntryNames | Unset = UNSET
    read: int | None | Unset = UNSET
    unread: int | None | Unset = UNSET
    waits_for_people: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.last_message import LastMessage  # noqa: PLC0415

        archived = self.archived

        created_at = self.created_at

        head = self.head

        id = self.id

        name = self.name

        policy = self.policy

        updated_at = self.updated_at

        direct: bool | None | Unset
        if isinstance(self.direct, Unset):
            direct = UNSET
        else:
            direct = self.direct

        last: dict[str, Any] | None | Unset
        if isinstance(self.last, Unset):
            last = UNSET
        elif isinstance(self.last, LastMessage):
            last = self.last.to_dict()
        else:
            last = self.last

        names: dict[str, Any] | Unset = UNSET
        if not isinstance(self.names, Unset):
            names = self.names.to_dict()

        read: int | None | Unset
        if isinstance(self.read, Unset):
            read = UNSET
        else:
            read = self.read

        unread: int | None | Unset
        if isinstance(self.unread, Unset):
            unread = UNSET
        else:
            unread = self.unread

        waits_for_people: int | None | Unset
        if isinstance(self.waits_for_people, Unset):
            waits_for_people = UNSET
        else:
            waits_for_people = self.waits_for_people

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "archived": archived,
                "created_at": created_at,
                "head": head,
                "id": id,
                "name": name,
                "policy": policy,
                "updated_at": updated_at,
            }
        )
        if direct is not UNSET:
            field_dict["direct"] = direct
        if last is not UNSET:
            field_dict["last"] = last
        if names is not UNSET:
            field_dict["names"] = names
        if read is not UNSET:
            field_dict["read"] = read
        if unread is not UNSET:
            field_dict["unread"] = unread
        if waits_for_people is not UNSET:
            field_dict["waits_for_people"] = waits_for_people

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.last_message import LastMessage  # noqa: PLC0415
        from ..models.thread_entry_names import ThreadEntryNames  # noqa: PLC0415

        d = dict(src_dict)
        archived = d.pop("archived")

        created_at = d.pop("created_at")

        head = d.pop("head")

        id = d.pop("id")

        name = d.pop("name")

        policy = d.pop("policy")

        updated_at = d.pop("updated_at")

        def _parse_direct(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        direct = _parse_direct(d.pop("direct", UNSET))

        def _parse_last(data: object) -> LastMessage | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                last_type_0 = LastMessage.from_dict(data)

                return last_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LastMessage | None | Unset, data)

        last = _parse_last(d.pop("last", UNSET))

        _names = d.pop("names", UNSET)
        names: ThreadEntryNames | Unset
        if isinstance(_names, Unset):
            names = UNSET
        else:
            names = ThreadEntryNames.from_dict(_names)

        def _parse_read(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        read = _parse_read(d.pop("read", UNSET))

        def _parse_unread(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        unread = _parse_unread(d.pop("unread", UNSET))

        def _parse_waits_for_people(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        waits_for_people = _parse_waits_for_people(d.pop("waits_for_people", UNSET))

        thread_entry = cls(
            archived=archived,
            created_at=created_at,
            head=head,
            id=id,
            name=name,
            policy=policy,
            updated_at=updated_at,
            direct=direct,
            last=last,
            names=names,
            read=read,
            unread=unread,
            waits_for_people=waits_for_people,
        )

        thread_entry.additional_properties = d
        return thread_entry

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
