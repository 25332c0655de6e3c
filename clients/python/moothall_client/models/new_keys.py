from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.new_keystroke import NewKeystroke


T = TypeVar("T", bound="NewKeys")


@_attrs_define
class NewKeys:
    """Body of `POST /sessions/{id}/keys`.

    Attributes:
        from_ (None | str | Unset): Id of the person that types. If absent, `user`, or the person to whom the credential
            belongs.
        keys (list[NewKeystroke] | Unset): The keystrokes, in order. Without any, the terminal is only taken over.
        release (bool | Unset): True if the terminal is released after the keystrokes.
    """

    from_: None | str | Unset = UNSET
    keys: list[NewKeystroke] | Unset = UNSET
    release: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        keys: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.keys, Unset):
            keys = []
            for keys_item_data in self.keys:
                keys_item = keys_item_data.to_dict()
                keys.append(keys_item)

        release = self.release

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if from_ is not UNSET:
            field_dict["from"] = from_
        if keys is not UNSET:
            field_dict["keys"] = keys
        if release is not UNSET:
            field_dict["release"] = release

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.new_keystroke import NewKeystroke  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        _keys = d.pop("keys", UNSET)
        keys: list[NewKeystroke] | Unset = UNSET
        if _keys is not UNSET:
            keys = []
            for keys_item_data in _keys:
                keys_item = NewKeystroke.from_dict(keys_item_data)

                keys.append(keys_item)

        release = d.pop("release", UNSET)

        new_keys = cls(
            from_=from_,
            keys=keys,
            release=release,
        )

        return new_keys
