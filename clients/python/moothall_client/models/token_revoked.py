from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.token_entry import TokenEntry


T = TypeVar("T", bound="TokenRevoked")


@_attrs_define
class TokenRevoked:
    """Answer of `POST /tokens/{id}/revoke`.

    Attributes:
        changed (bool): True if this request revoked at least one token.
        revoked (bool): Always `true`: the token is not valid.
        children (list[TokenEntry] | Unset): Tokens that came from its invitations, or from theirs in turn, and are
            still valid.
        ids (list[str] | Unset): Ids of all tokens revoked by this request: the token itself, browsers that signed in
            with
            it, and its unaccepted invitations. With `with_children` also the tokens that came from
            accepted ones.
    """

    changed: bool
    revoked: bool
    children: list[TokenEntry] | Unset = UNSET
    ids: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        changed = self.changed

        revoked = self.revoked

        children: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.children, Unset):
            children = []
            for children_item_data in self.children:
                children_item = children_item_data.to_dict()
                children.append(children_item)

        ids: list[str] | Unset = UNSET
        if not isinstance(self.ids, Unset):
            ids = self.ids

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "changed": changed,
                "revoked": revoked,
            }
        )
        if children is not UNSET:
            field_dict["children"] = children
        if ids is not UNSET:
            field_dict["ids"] = ids

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.token_entry import TokenEntry  # noqa: PLC0415

        d = dict(src_dict)
        changed = d.pop("changed")

        revoked = d.pop("revoked")

        _children = d.pop("children", UNSET)
        children: list[TokenEntry] | Unset = UNSET
        if _children is not UNSET:
            children = []
            for children_item_data in _children:
                children_item = TokenEntry.from_dict(children_item_data)

                children.append(children_item)

        ids = cast(list[str], d.pop("ids", UNSET))

        token_revoked = cls(
            changed=changed,
            revoked=revoked,
            children=children,
            ids=ids,
        )

        token_revoked.additional_properties = d
        return token_revoked

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
