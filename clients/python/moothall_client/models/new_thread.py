from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="NewThread")


@_attrs_define
class NewThread:
    """Body of `POST /threads`.

    Attributes:
        folder (None | str | Unset): Absolute path of the folder in which Claude Code, Codex and Gemini CLI work for the
            thread,
            unless they have a folder or a user of their own; the server's folder if absent. Takes
            `sessions:drive`.
        from_ (None | str | Unset): Id of the participant that creates the thread; `user` if absent.
        name (None | str | Unset): Title of the thread; `Untitled` if absent or empty.
        policy (Any | Unset): Name of a policy, or an object with `name` and its settings; `mention_only` if absent.
    """

    folder: None | str | Unset = UNSET
    from_: None | str | Unset = UNSET
    name: None | str | Unset = UNSET
    policy: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        folder: None | str | Unset
        if isinstance(self.folder, Unset):
            folder = UNSET
        else:
            folder = self.folder

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        policy = self.policy

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if folder is not UNSET:
            field_dict["folder"] = folder
        if from_ is not UNSET:
            field_dict["from"] = from_
        if name is not UNSET:
            field_dict["name"] = name
        if policy is not UNSET:
            field_dict["policy"] = policy

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_folder(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        folder = _parse_folder(d.pop("folder", UNSET))

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        policy = d.pop("policy", UNSET)

        new_thread = cls(
            folder=folder,
            from_=from_,
            name=name,
            policy=policy,
        )

        return new_thread
