from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="OptionEntry")


@_attrs_define
class OptionEntry:
    """One of the answers that a permission offers.

    Attributes:
        id (str): Id of the option, unique among the options of its question.
        kind (str): Effect of the option: `allow_once`, `allow_always`, `reject_once`, `reject_always` or
            `other`.
        label (str): Text of the option, as the asking program words it.
        description (None | str | Unset): The program's words about the option, apart from its text.
        takes_text (bool | Unset): True if the option is answered with `text`, in the person's own words.
        with_others (bool | Unset): True if the option can be combined with others of this kind: list their ids or
            numbers,
            separated by commas.
    """

    id: str
    kind: str
    label: str
    description: None | str | Unset = UNSET
    takes_text: bool | Unset = UNSET
    with_others: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        kind = self.kind

        label = self.label

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        takes_text = self.takes_text

        with_others = self.with_others

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "label": label,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if takes_text is not UNSET:
            field_dict["takes_text"] = takes_text
        if with_others is not UNSET:
            field_dict["with_others"] = with_others

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        kind = d.pop("kind")

        label = d.pop("label")

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        takes_text = d.pop("takes_text", UNSET)

        with_others = d.pop("with_others", UNSET)

        option_entry = cls(
            id=id,
            kind=kind,
            label=label,
            description=description,
            takes_text=takes_text,
            with_others=with_others,
        )

        option_entry.additional_properties = d
        return option_entry

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
