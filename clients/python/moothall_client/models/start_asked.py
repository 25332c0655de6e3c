from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="StartAsked")


@_attrs_define
class StartAsked:
    """A person is asked first: if a program may be started, or if two sessions may talk. The asker is
    told the outcome, in the same thread.

        Attributes:
            message (str): The same in words.
            permission (str): The permission that waits for an answer.
            state (str): Always `asked`: nothing was done yet.
            thread (str): The thread in which it is asked.
    """

    message: str
    permission: str
    state: str
    thread: str

    def to_dict(self) -> dict[str, Any]:
        message = self.message

        permission = self.permission

        state = self.state

        thread = self.thread

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "message": message,
                "permission": permission,
                "state": state,
                "thread": thread,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        message = d.pop("message")

        permission = d.pop("permission")

        state = d.pop("state")

        thread = d.pop("thread")

        start_asked = cls(
            message=message,
            permission=permission,
            state=state,
            thread=thread,
        )

        return start_asked
