from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.dialog_entry import DialogEntry


T = TypeVar("T", bound="ScreenAnswer")


@_attrs_define
class ScreenAnswer:
    """The content of a session's screen: the answer of `GET /sessions/{id}/screen`, and the `screen`
    event of its stream.

        Attributes:
            session (str): Id of the session.
            state (str): State of the program according to the screen: `starting`, `idle`, `busy`, `asking`, `shell`
                or `gone`.
            text (str): Text of the whole screen, without markup and without escape sequences.
            composer (None | str | Unset): Text in the program's composer; absent if it cannot be determined.
            dialog (DialogEntry | None | Unset):
    """

    session: str
    state: str
    text: str
    composer: None | str | Unset = UNSET
    dialog: DialogEntry | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.dialog_entry import DialogEntry  # noqa: PLC0415

        session = self.session

        state = self.state

        text = self.text

        composer: None | str | Unset
        if isinstance(self.composer, Unset):
            composer = UNSET
        else:
            composer = self.composer

        dialog: dict[str, Any] | None | Unset
        if isinstance(self.dialog, Unset):
            dialog = UNSET
        elif isinstance(self.dialog, DialogEntry):
            dialog = self.dialog.to_dict()
        else:
            dialog = self.dialog

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "session": session,
                "state": state,
                "text": text,
            }
        )
        if composer is not UNSET:
            field_dict["composer"] = composer
        if dialog is not UNSET:
            field_dict["dialog"] = dialog

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.dialog_entry import DialogEntry  # noqa: PLC0415

        d = dict(src_dict)
        session = d.pop("session")

        state = d.pop("state")

        text = d.pop("text")

        def _parse_composer(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        composer = _parse_composer(d.pop("composer", UNSET))

        def _parse_dialog(data: object) -> DialogEntry | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                dialog_type_0 = DialogEntry.from_dict(data)

                return dialog_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DialogEntry | None | Unset, data)

        dialog = _parse_dialog(d.pop("dialog", UNSET))

        screen_answer = cls(
            session=session,
            state=state,
            text=text,
            composer=composer,
            dialog=dialog,
        )

        screen_answer.additional_properties = d
        return screen_answer

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
