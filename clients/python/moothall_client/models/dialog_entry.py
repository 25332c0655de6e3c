from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.option_entry import OptionEntry


T = TypeVar("T", bound="DialogEntry")


@_attrs_define
class DialogEntry:
    """A question of a program.

    Attributes:
        action (str): The action that the program wants to take.
        complete (bool): True if the screen shows the whole action.
        options (list[OptionEntry]): The answers that the program offers.
    """

    action: str
    complete: bool
    options: list[OptionEntry]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        action = self.action

        complete = self.complete

        options = []
        for options_item_data in self.options:
            options_item = options_item_data.to_dict()
            options.append(options_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "action": action,
                "complete": complete,
                "options": options,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.option_entry import OptionEntry  # noqa: PLC0415

        d = dict(src_dict)
        action = d.pop("action")

        complete = d.pop("complete")

        options = []
        _options = d.pop("options")
        for options_item_data in _options:
            options_item = OptionEntry.from_dict(options_item_data)

            options.append(options_item)

        dialog_entry = cls(
            action=action,
            complete=complete,
            options=options,
        )

        dialog_entry.additional_properties = d
        return dialog_entry

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
