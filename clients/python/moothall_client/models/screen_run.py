from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ScreenRun")


@_attrs_define
class ScreenRun:
    """Characters of a screen with one style. Absent parts are those of the bare terminal.

    Attributes:
        text (str): The characters. They are text, without markup and without escape sequences.
        bg (None | str | Unset): Colour behind the characters, in the words of `fg`.
        bold (bool | Unset): True for bold characters.
        faint (bool | Unset): True for faint characters.
        fg (None | str | Unset): Colour of the characters: `#rrggbb`, or one of the 16 colours that the viewer chooses:
            `black`, `red`, `green`, `yellow`, `blue`, `magenta`, `cyan`, `white`, or one of them after
            `bright_`.
        italic (bool | Unset): True for italic characters.
        reverse (bool | Unset): True if both colours are exchanged.
        strike (bool | Unset): True for characters that are struck through.
        underline (bool | Unset): True for underlined characters.
    """

    text: str
    bg: None | str | Unset = UNSET
    bold: bool | Unset = UNSET
    faint: bool | Unset = UNSET
    fg: None | str | Unset = UNSET
    italic: bool | Unset = UNSET
    reverse: bool | Unset = UNSET
    strike: bool | Unset = UNSET
    underline: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        text = self.text

        bg: None | str | Unset
        if isinstance(self.bg, Unset):
            bg = UNSET
        else:
            bg = self.bg

        bold = self.bold

        faint = self.faint

        fg: None | str | Unset
        if isinstance(self.fg, Unset):
            fg = UNSET
        else:
            fg = self.fg

        italic = self.italic

        reverse = self.reverse

        strike = self.strike

        underline = self.underline

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "text": text,
            }
        )
        if bg is not UNSET:
            field_dict["bg"] = bg
        if bold is not UNSET:
            field_dict["bold"] = bold
        if faint is not UNSET:
            field_dict["faint"] = faint
        if fg is not UNSET:
            field_dict["fg"] = fg
        if italic is not UNSET:
            field_dict["italic"] = italic
        if reverse is not UNSET:
            field_dict["reverse"] = reverse
        if strike is not UNSET:
            field_dict["strike"] = strike
        if underline is not UNSET:
            field_dict["underline"] = underline

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        text = d.pop("text")

        def _parse_bg(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        bg = _parse_bg(d.pop("bg", UNSET))

        bold = d.pop("bold", UNSET)

        faint = d.pop("faint", UNSET)

        def _parse_fg(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        fg = _parse_fg(d.pop("fg", UNSET))

        italic = d.pop("italic", UNSET)

        reverse = d.pop("reverse", UNSET)

        strike = d.pop("strike", UNSET)

        underline = d.pop("underline", UNSET)

        screen_run = cls(
            text=text,
            bg=bg,
            bold=bold,
            faint=faint,
            fg=fg,
            italic=italic,
            reverse=reverse,
            strike=strike,
            underline=underline,
        )

        screen_run.additional_properties = d
        return screen_run

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
