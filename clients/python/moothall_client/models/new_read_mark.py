from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="NewReadMark")


@_attrs_define
class NewReadMark:
    """Body of `PUT /threads/{id}/read`.

    Attributes:
        seq (int): Position of the last event that was read, inclusive.
        from_ (None | str | Unset): Id of the reader; `user` if absent.
    """

    seq: int
    from_: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        seq = self.seq

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "seq": seq,
            }
        )
        if from_ is not UNSET:
            field_dict["from"] = from_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        seq = d.pop("seq")

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        new_read_mark = cls(
            seq=seq,
            from_=from_,
        )

        return new_read_mark
