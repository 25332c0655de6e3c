from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.dialog_entry import DialogEntry
    from ..models.screen_cursor import ScreenCursor
    from ..models.screen_run import ScreenRun


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
            columns (int | None | Unset): Width of the terminal in columns; absent if it is not known.
            composer (None | str | Unset): Text in the program's composer; absent if it cannot be determined.
            cursor (None | ScreenCursor | Unset):
            dialog (DialogEntry | None | Unset):
            lines (list[list[ScreenRun]] | Unset): The lines of the screen in colour, each as runs of one style. A line
                without characters has
                no runs.
    """

    session: str
    state: str
    text: str
    columns: int | None | Unset = UNSET
    composer: None | str | Unset = UNSET
    cursor: None | ScreenCursor | Unset = UNSET
    dialog: DialogEntry | None | Unset = UNSET
    lines: list[list[ScreenRun]] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.dialog_entry import DialogEntry  # noqa: PLC0415
        from ..models.screen_cursor import ScreenCursor  # noqa: PLC0415

        session = self.session

        state = self.state

        text = self.text

        columns: int | None | Unset
        if isinstance(self.columns, Unset):
            columns = UNSET
        else:
            columns = self.columns

        composer: None | str | Unset
        if isinstance(self.composer, Unset):
            composer = UNSET
        else:
            composer = self.composer

        cursor: dict[str, Any] | None | Unset
        if isinstance(self.cursor, Unset):
            cursor = UNSET
        elif isinstance(self.cursor, ScreenCursor):
            cursor = self.cursor.to_dict()
        else:
            cursor = self.cursor

        dialog: dict[str, Any] | None | Unset
        if isinstance(self.dialog, Unset):
            dialog = UNSET
        elif isinstance(self.dialog, DialogEntry):
            dialog = self.dialog.to_dict()
        else:
            dialog = self.dialog

        lines: list[list[dict[str, Any]]] | Unset = UNSET
        if not isinstance(self.lines, Unset):
            lines = []
            for lines_item_data in self.lines:
                lines_item = []
                for lines_item_item_data in lines_item_data:
                    lines_item_item = lines_item_item_data.to_dict()
                    lines_item.append(lines_item_item)

                lines.append(lines_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "session": session,
                "state": state,
                "text": text,
            }
        )
        if columns is not UNSET:
            field_dict["columns"] = columns
        if composer is not UNSET:
            field_dict["composer"] = composer
        if cursor is not UNSET:
            field_dict["cursor"] = cursor
        if dialog is not UNSET:
            field_dict["dialog"] = dialog
        if lines is not UNSET:
            field_dict["lines"] = lines

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.dialog_entry import DialogEntry  # noqa: PLC0415
        from ..models.screen_cursor import ScreenCursor  # noqa: PLC0415
        from ..models.screen_run import ScreenRun  # noqa: PLC0415

        d = dict(src_dict)
        session = d.pop("session")

        state = d.pop("state")

        text = d.pop("text")

        def _parse_columns(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        columns = _parse_columns(d.pop("columns", UNSET))

        def _parse_composer(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        composer = _parse_composer(d.pop("composer", UNSET))

        def _parse_cursor(data: object) -> None | ScreenCursor | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                cursor_type_0 = ScreenCursor.from_dict(data)

                return cursor_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ScreenCursor | Unset, data)

        cursor = _parse_cursor(d.pop("cursor", UNSET))

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

        _lines = d.pop("lines", UNSET)
        lines: list[list[ScreenRun]] | Unset = UNSET
        if _lines is not UNSET:
            lines = []
            for lines_item_data in _lines:
                lines_item = []
                _lines_item = lines_item_data
                for lines_item_item_data in _lines_item:
                    lines_item_item = ScreenRun.from_dict(lines_item_item_data)

                    lines_item.append(lines_item_item)

                lines.append(lines_item)

        screen_answer = cls(
            session=session,
            state=state,
            text=text,
            columns=columns,
            composer=composer,
            cursor=cursor,
            dialog=dialog,
            lines=lines,
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
