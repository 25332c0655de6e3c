from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.new_link_member import NewLinkMember


T = TypeVar("T", bound="NewLink")


@_attrs_define
class NewLink:
    """Body of `POST /links`.

    Attributes:
        members (list[NewLinkMember]): The sessions of the link, two or more.
        from_ (None | str | Unset): Id of the participant that asks. If absent, `user`, or the session to which the
            token
            belongs.
        max_exchanges_without_human (int | None | Unset): Maximum number of messages that members may exchange before a
            person has to continue, 1 to
            200. If absent, the value in the operator's `[defaults]`. An existing link of these sessions
            keeps its own.
        title (None | str | Unset): Title of the link; made from the members' names if absent.
    """

    members: list[NewLinkMember]
    from_: None | str | Unset = UNSET
    max_exchanges_without_human: int | None | Unset = UNSET
    title: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        members = []
        for members_item_data in self.members:
            members_item = members_item_data.to_dict()
            members.append(members_item)

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        max_exchanges_without_human: int | None | Unset
        if isinstance(self.max_exchanges_without_human, Unset):
            max_exchanges_without_human = UNSET
        else:
            max_exchanges_without_human = self.max_exchanges_without_human

        title: None | str | Unset
        if isinstance(self.title, Unset):
            title = UNSET
        else:
            title = self.title

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "members": members,
            }
        )
        if from_ is not UNSET:
            field_dict["from"] = from_
        if max_exchanges_without_human is not UNSET:
            field_dict["max_exchanges_without_human"] = max_exchanges_without_human
        if title is not UNSET:
            field_dict["title"] = title

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.new_link_member import NewLinkMember  # noqa: PLC0415

        d = dict(src_dict)
        members = []
        _members = d.pop("members")
        for members_item_data in _members:
            members_item = NewLinkMember.from_dict(members_item_data)

            members.append(members_item)

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        def _parse_max_exchanges_without_human(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_exchanges_without_human = _parse_max_exchanges_without_human(
            d.pop("max_exchanges_without_human", UNSET)
        )

        def _parse_title(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        title = _parse_title(d.pop("title", UNSET))

        new_link = cls(
            members=members,
            from_=from_,
            max_exchanges_without_human=max_exchanges_without_human,
            title=title,
        )

        return new_link
