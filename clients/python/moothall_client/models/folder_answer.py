from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.folder_place import FolderPlace


T = TypeVar("T", bound="FolderAnswer")


@_attrs_define
class FolderAnswer:
    """Answer of `GET /folders`.

    Attributes:
        folders (list[FolderPlace]): The folders inside, in the order of their names. Hidden ones are left out.
        path (str): Absolute path of the folder whose content is listed.
        recent (list[str]): Absolute paths of the folders in which sessions worked, newest first.
        parent (None | str | Unset): Absolute path of the folder around it; absent at the top.
    """

    folders: list[FolderPlace]
    path: str
    recent: list[str]
    parent: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        folders = []
        for folders_item_data in self.folders:
            folders_item = folders_item_data.to_dict()
            folders.append(folders_item)

        path = self.path

        recent = self.recent

        parent: None | str | Unset
        if isinstance(self.parent, Unset):
            parent = UNSET
        else:
            parent = self.parent

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "folders": folders,
                "path": path,
                "recent": recent,
            }
        )
        if parent is not UNSET:
            field_dict["parent"] = parent

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.folder_place import FolderPlace  # noqa: PLC0415

        d = dict(src_dict)
        folders = []
        _folders = d.pop("folders")
        for folders_item_data in _folders:
            folders_item = FolderPlace.from_dict(folders_item_data)

            folders.append(folders_item)

        path = d.pop("path")

        recent = cast(list[str], d.pop("recent"))

        def _parse_parent(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        parent = _parse_parent(d.pop("parent", UNSET))

        folder_answer = cls(
            folders=folders,
            path=path,
            recent=recent,
            parent=parent,
        )

        folder_answer.additional_properties = d
        return folder_answer

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
