from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.envelope import Envelope
    from ..models.join_prompt import JoinPrompt


T = TypeVar("T", bound="Accepted")


@_attrs_define
class Accepted:
    """Answer of `POST /threads/{id}/events`.

    Attributes:
        received (bool): Always `true`: the event is committed and synced.
        event (Envelope | None | Unset):
        join (JoinPrompt | None | Unset):
        warnings (list[str] | Unset): Warnings about the accepted event: words for programs (`held`, `stopped`,
            `queue_full`,
            `unknown_name`), each followed by its sentences for people.
    """

    received: bool
    event: Envelope | None | Unset = UNSET
    join: JoinPrompt | None | Unset = UNSET
    warnings: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.envelope import Envelope  # noqa: PLC0415
        from ..models.join_prompt import JoinPrompt  # noqa: PLC0415

        received = self.received

        event: dict[str, Any] | None | Unset
        if isinstance(self.event, Unset):
            event = UNSET
        elif isinstance(self.event, Envelope):
            event = self.event.to_dict()
        else:
            event = self.event

        join: dict[str, Any] | None | Unset
        if isinstance(self.join, Unset):
            join = UNSET
        elif isinstance(self.join, JoinPrompt):
            join = self.join.to_dict()
        else:
            join = self.join

        warnings: list[str] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = self.warnings

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "received": received,
            }
        )
        if event is not UNSET:
            field_dict["event"] = event
        if join is not UNSET:
            field_dict["join"] = join
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.envelope import Envelope  # noqa: PLC0415
        from ..models.join_prompt import JoinPrompt  # noqa: PLC0415

        d = dict(src_dict)
        received = d.pop("received")

        def _parse_event(data: object) -> Envelope | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                event_type_0 = Envelope.from_dict(data)

                return event_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Envelope | None | Unset, data)

        event = _parse_event(d.pop("event", UNSET))

        def _parse_join(data: object) -> JoinPrompt | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                join_type_0 = JoinPrompt.from_dict(data)

                return join_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(JoinPrompt | None | Unset, data)

        join = _parse_join(d.pop("join", UNSET))

        warnings = cast(list[str], d.pop("warnings", UNSET))

        accepted = cls(
            received=received,
            event=event,
            join=join,
            warnings=warnings,
        )

        accepted.additional_properties = d
        return accepted

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
