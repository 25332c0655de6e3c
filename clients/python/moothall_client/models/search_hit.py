from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.snippet_piece import SnippetPiece


T = TypeVar("T", bound="SearchHit")


@_attrs_define
class SearchHit:
    """A found message.

    Attributes:
        from_ (str): Id of the participant that wrote the message.
        id (str): Id of the message's event.
        seq (int): Position of the message in its thread.
        snippet (list[SnippetPiece]): Text around the first match, on one line. Plain text, not markup: escape it for
            display.
        thread (str): Id of the message's thread.
        thread_name (str): Title of that thread.
        ts (str): Time of the message.
    """

    from_: str
    id: str
    seq: int
    snippet: list[SnippetPiece]
    thread: str
    thread_name: str
    ts: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from_ = self.from_

        id = self.id

        seq = self.seq

        snippet = []
        for snippet_item_data in self.snippet:
            snippet_item = snippet_item_data.to_dict()
            snippet.append(snippet_item)

        thread = self.thread

        thread_name = self.thread_name

        ts = self.ts

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "from": from_,
                "id": id,
                "seq": seq,
                "snippet": snippet,
                "thread": thread,
                "thread_name": thread_name,
                "ts": ts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.snippet_piece import SnippetPiece  # noqa: PLC0415

        d = dict(src_dict)
        from_ = d.pop("from")

        id = d.pop("id")

        seq = d.pop("seq")

        snippet = []
        _snippet = d.pop("snippet")
        for snippet_item_data in _snippet:
            snippet_item = SnippetPiece.from_dict(snippet_item_data)

            snippet.append(snippet_item)

        thread = d.pop("thread")

        thread_name = d.pop("thread_name")

        ts = d.pop("ts")

        search_hit = cls(
            from_=from_,
            id=id,
            seq=seq,
            snippet=snippet,
            thread=thread,
            thread_name=thread_name,
            ts=ts,
        )

        search_hit.additional_properties = d
        return search_hit

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
