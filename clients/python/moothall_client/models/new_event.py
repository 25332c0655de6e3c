from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.new_meta import NewMeta


T = TypeVar("T", bound="NewEvent")


@_attrs_define
class NewEvent:
    """Body of `POST /threads/{id}/events`. `id`, `ts`, `seq` and `via` belong to the server and are
    refused. The answer warns of other unknown keys.

        Attributes:
            content (Any | Unset): Text of a message, name of a renamed thread, object of a control, or `{"pass": true}` for
                a
                turn.
            from_ (None | str | Unset): Id of the participant that speaks. Required.
            meta (NewMeta | None | Unset):
            to (None | str | Unset): Addressee: `all`, or a participant's id or nickname; `all` if absent.
            type_ (None | str | Unset): Type of the event: `message`, `control`, `thread.renamed`, `turn` for a pass, or the
                client's own word; `message` if absent.
    """

    content: Any | Unset = UNSET
    from_: None | str | Unset = UNSET
    meta: NewMeta | None | Unset = UNSET
    to: None | str | Unset = UNSET
    type_: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.new_meta import NewMeta  # noqa: PLC0415

        content = self.content

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        meta: dict[str, Any] | None | Unset
        if isinstance(self.meta, Unset):
            meta = UNSET
        elif isinstance(self.meta, NewMeta):
            meta = self.meta.to_dict()
        else:
            meta = self.meta

        to: None | str | Unset
        if isinstance(self.to, Unset):
            to = UNSET
        else:
            to = self.to

        type_: None | str | Unset
        if isinstance(self.type_, Unset):
            type_ = UNSET
        else:
            type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if content is not UNSET:
            field_dict["content"] = content
        if from_ is not UNSET:
            field_dict["from"] = from_
        if meta is not UNSET:
            field_dict["meta"] = meta
        if to is not UNSET:
            field_dict["to"] = to
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.new_meta import NewMeta  # noqa: PLC0415

        d = dict(src_dict)
        content = d.pop("content", UNSET)

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        def _parse_meta(data: object) -> NewMeta | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                meta_type_0 = NewMeta.from_dict(data)

                return meta_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(NewMeta | None | Unset, data)

        meta = _parse_meta(d.pop("meta", UNSET))

        def _parse_to(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        to = _parse_to(d.pop("to", UNSET))

        def _parse_type_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        type_ = _parse_type_(d.pop("type", UNSET))

        new_event = cls(
            content=content,
            from_=from_,
            meta=meta,
            to=to,
            type_=type_,
        )

        new_event.additional_properties = d
        return new_event

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
