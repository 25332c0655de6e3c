from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.session_entry import SessionEntry


T = TypeVar("T", bound="SessionActed")


@_attrs_define
class SessionActed:
    """Answer of `POST /sessions/{id}/interrupt` and `…/end`.

    Attributes:
        done (bool): Always `true`: a failed action is an error.
        session (SessionEntry): A session: one run of a program in a terminal.
    """

    done: bool
    session: SessionEntry
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        done = self.done

        session = self.session.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "done": done,
                "session": session,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.session_entry import SessionEntry  # noqa: PLC0415

        d = dict(src_dict)
        done = d.pop("done")

        session = SessionEntry.from_dict(d.pop("session"))

        session_acted = cls(
            done=done,
            session=session,
        )

        session_acted.additional_properties = d
        return session_acted

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
