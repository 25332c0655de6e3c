from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Adoption")


@_attrs_define
class Adoption:
    """The terminal of a program that this server did not start.

    Attributes:
        pane (str): Pane of the multiplexer, e.g. `%7` or `work:0.1`.
        socket (str): Socket of the multiplexer: a name or a path.
    """

    pane: str
    socket: str

    def to_dict(self) -> dict[str, Any]:
        pane = self.pane

        socket = self.socket

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "pane": pane,
                "socket": socket,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        pane = d.pop("pane")

        socket = d.pop("socket")

        adoption = cls(
            pane=pane,
            socket=socket,
        )

        return adoption
