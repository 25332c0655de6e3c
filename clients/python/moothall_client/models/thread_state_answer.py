from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.thread_state import ThreadState


T = TypeVar("T", bound="ThreadStateAnswer")


@_attrs_define
class ThreadStateAnswer:
    """Answer of `GET /threads/{id}/state`.

    Attributes:
        head (int): Position of the thread's newest event. The state includes that event.
        name (str): Title of the thread.
        state (ThreadState): The current state of a thread.
        thread (str): Id of the thread.
    """

    head: int
    name: str
    state: ThreadState
    thread: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        head = self.head

        name = self.name

        state = self.state.to_dict()

        thread = self.thread

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "head": head,
                "name": name,
                "state": state,
                "thread": thread,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.thread_state import ThreadState  # noqa: PLC0415

        d = dict(src_dict)
        head = d.pop("head")

        name = d.pop("name")

        state = ThreadState.from_dict(d.pop("state"))

        thread = d.pop("thread")

        thread_state_answer = cls(
            head=head,
            name=name,
            state=state,
            thread=thread,
        )

        thread_state_answer.additional_properties = d
        return thread_state_answer

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
