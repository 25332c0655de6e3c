from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.envelope import Envelope
    from ..models.thread_created_policy import ThreadCreatedPolicy


T = TypeVar("T", bound="ThreadCreated")


@_attrs_define
class ThreadCreated:
    """Answer of `POST /threads`.

    Attributes:
        created_at (str): Time at which the thread was created.
        event (Envelope): An event as clients see it. Order comes from `seq` alone.
        head (int): Position of the thread's first event.
        id (str): Id of the new thread.
        name (str): Title of the new thread.
        policy (ThreadCreatedPolicy): The policy with all its settings.
    """

    created_at: str
    event: Envelope
    head: int
    id: str
    name: str
    policy: ThreadCreatedPolicy
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at

        event = self.event.to_dict()

        head = self.head

        id = self.id

        name = self.name

        policy = self.policy.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created_at": created_at,
                "event": event,
                "head": head,
                "id": id,
                "name": name,
                "policy": policy,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.envelope import Envelope  # noqa: PLC0415
        from ..models.thread_created_policy import ThreadCreatedPolicy  # noqa: PLC0415

        d = dict(src_dict)
        created_at = d.pop("created_at")

        event = Envelope.from_dict(d.pop("event"))

        head = d.pop("head")

        id = d.pop("id")

        name = d.pop("name")

        policy = ThreadCreatedPolicy.from_dict(d.pop("policy"))

        thread_created = cls(
            created_at=created_at,
            event=event,
            head=head,
            id=id,
            name=name,
            policy=policy,
        )

        thread_created.additional_properties = d
        return thread_created

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
