from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ErrorDetail")


@_attrs_define
class ErrorDetail:
    """The cause of one failed request, and its place.

    Attributes:
        code (str): Stable code of the error; the reference lists all codes.
        message (str): Cause of the error and its remedy, in one or two sentences.
        kept (None | str | Unset): Id of the event in which the refused words were kept; absent if they were not kept.
        participant (None | str | Unset): Id of the participant that the error is about; absent if there is none.
        thread (None | str | Unset): Id of the thread that the error is about; absent if there is none.
    """

    code: str
    message: str
    kept: None | str | Unset = UNSET
    participant: None | str | Unset = UNSET
    thread: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        message = self.message

        kept: None | str | Unset
        if isinstance(self.kept, Unset):
            kept = UNSET
        else:
            kept = self.kept

        participant: None | str | Unset
        if isinstance(self.participant, Unset):
            participant = UNSET
        else:
            participant = self.participant

        thread: None | str | Unset
        if isinstance(self.thread, Unset):
            thread = UNSET
        else:
            thread = self.thread

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "message": message,
            }
        )
        if kept is not UNSET:
            field_dict["kept"] = kept
        if participant is not UNSET:
            field_dict["participant"] = participant
        if thread is not UNSET:
            field_dict["thread"] = thread

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code")

        message = d.pop("message")

        def _parse_kept(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        kept = _parse_kept(d.pop("kept", UNSET))

        def _parse_participant(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        participant = _parse_participant(d.pop("participant", UNSET))

        def _parse_thread(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        thread = _parse_thread(d.pop("thread", UNSET))

        error_detail = cls(
            code=code,
            message=message,
            kept=kept,
            participant=participant,
            thread=thread,
        )

        error_detail.additional_properties = d
        return error_detail

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
