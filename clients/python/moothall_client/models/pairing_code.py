from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.pairing_link_entry import PairingLinkEntry


T = TypeVar("T", bound="PairingCode")


@_attrs_define
class PairingCode:
    """A code that pairs one account of a channel with the caller.

    Attributes:
        code (str): The code, to be sent to a bot as `/start <code>`. It works once.
        expires_at (str): Time at which the code expires.
        links (list[PairingLinkEntry]): Links that send the code to a bot, one for each connected bot.
        scopes (list[str]): Scopes that the account will have.
    """

    code: str
    expires_at: str
    links: list[PairingLinkEntry]
    scopes: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        expires_at = self.expires_at

        links = []
        for links_item_data in self.links:
            links_item = links_item_data.to_dict()
            links.append(links_item)

        scopes = self.scopes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "expires_at": expires_at,
                "links": links,
                "scopes": scopes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pairing_link_entry import PairingLinkEntry  # noqa: PLC0415

        d = dict(src_dict)
        code = d.pop("code")

        expires_at = d.pop("expires_at")

        links = []
        _links = d.pop("links")
        for links_item_data in _links:
            links_item = PairingLinkEntry.from_dict(links_item_data)

            links.append(links_item)

        scopes = cast(list[str], d.pop("scopes"))

        pairing_code = cls(
            code=code,
            expires_at=expires_at,
            links=links,
            scopes=scopes,
        )

        pairing_code.additional_properties = d
        return pairing_code

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
