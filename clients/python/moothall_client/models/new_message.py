from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="NewMessage")


@_attrs_define
class NewMessage:
    """Body of `POST /sessions/{id}/messages`.

    Attributes:
        close_link (bool | Unset): True to close the link of the two sessions, after the message if there is one. Only a
            session can ask for this.
        direct (bool | Unset): True to talk over a link of the two sessions: the words of each at the end of a turn
            reach
            the other. Only a session can ask for this.
        from_ (None | str | Unset): Id of the participant that speaks. If absent, `user`, or the session to which the
            token
            belongs.
        message (None | str | Unset): The message. Required, unless a link is only to be closed.
    """

    close_link: bool | Unset = UNSET
    direct: bool | Unset = UNSET
    from_: None | str | Unset = UNSET
    message: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        close_link = self.close_link

        direct = self.direct

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        message: None | str | Unset
        if isinstance(self.message, Unset):
            message = UNSET
        else:
            message = self.message

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if close_link is not UNSET:
            field_dict["close_link"] = close_link
        if direct is not UNSET:
            field_dict["direct"] = direct
        if from_ is not UNSET:
            field_dict["from"] = from_
        if message is not UNSET:
            field_dict["message"] = message

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        close_link = d.pop("close_link", UNSET)

        direct = d.pop("direct", UNSET)

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        def _parse_message(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        message = _parse_message(d.pop("message", UNSET))

        new_message = cls(
            close_link=close_link,
            direct=direct,
            from_=from_,
            message=message,
        )

        return new_message
