from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.bot_entry import BotEntry
    from ..models.chat_entry import ChatEntry


T = TypeVar("T", bound="ChannelEntry")


@_attrs_define
class ChannelEntry:
    """A channel to the chats of another product.

    Attributes:
        bots (list[BotEntry]): The bots, in the order of the configuration.
        chats (list[ChatEntry]): The chats to which threads are bound. Beside them those in which the bots are, as far
            as
            they are known since the server started.
        name (str): Name of the channel, such as `telegram`.
    """

    bots: list[BotEntry]
    chats: list[ChatEntry]
    name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bots = []
        for bots_item_data in self.bots:
            bots_item = bots_item_data.to_dict()
            bots.append(bots_item)

        chats = []
        for chats_item_data in self.chats:
            chats_item = chats_item_data.to_dict()
            chats.append(chats_item)

        name = self.name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bots": bots,
                "chats": chats,
                "name": name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bot_entry import BotEntry  # noqa: PLC0415
        from ..models.chat_entry import ChatEntry  # noqa: PLC0415

        d = dict(src_dict)
        bots = []
        _bots = d.pop("bots")
        for bots_item_data in _bots:
            bots_item = BotEntry.from_dict(bots_item_data)

            bots.append(bots_item)

        chats = []
        _chats = d.pop("chats")
        for chats_item_data in _chats:
            chats_item = ChatEntry.from_dict(chats_item_data)

            chats.append(chats_item)

        name = d.pop("name")

        channel_entry = cls(
            bots=bots,
            chats=chats,
            name=name,
        )

        channel_entry.additional_properties = d
        return channel_entry

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
