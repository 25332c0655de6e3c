from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="StartAsked")


@_attrs_define
class StartAsked:
    """An open request to a person: to start a program, or to let two sessions talk. The asker is
    notified of the outcome in the same thread.

        Attributes:
            message (str): The state and the next step, in words.
            permission (str): Id of the permission that waits for an answer.
            state (str): Always `asked`: nothing was done yet.
            thread (str): Id of the thread in which a person is asked.
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
