from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.new_presence_details_type_0 import NewPresenceDetailsType0


T = TypeVar("T", bound="NewPresence")


@_attrs_define
class NewPresence:
    """Body of `POST /threads/{id}/presence`.

    Attributes:
        details (NewPresenceDetailsType0 | None | Unset): Further details from the client. An update without details
            keeps the earlier ones.
        from_ (None | str | Unset): Id of the participant. Required without a credential that names one.
        state (None | str | Unset): Presence: `listening`, `thinking`, `typing`, `idle`, or the client's own word.
            Required.
    """

    details: NewPresenceDetailsType0 | None | Unset = UNSET
    from_: None | str | Unset = UNSET
    state: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.new_presence_details_type_0 import NewPresenceDetailsType0  # noqa: PLC0415

        details: dict[str, Any] | None | Unset
        if isinstance(self.details, Unset):
            details = UNSET
        elif isinstance(self.details, NewPresenceDetailsType0):
            details = self.details.to_dict()
        else:
            details = self.details

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        state: None | str | Unset
        if isinstance(self.state, Unset):
            state = UNSET
        else:
            state = self.state

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if details is not UNSET:
            field_dict["details"] = details
        if from_ is not UNSET:
            field_dict["from"] = from_
        if state is not UNSET:
            field_dict["state"] = state

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.new_presence_details_type_0 import NewPresenceDetailsType0  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_details(data: object) -> NewPresenceDetailsType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                details_type_0 = NewPresenceDetailsType0.from_dict(data)

                return details_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(NewPresenceDetailsType0 | None | Unset, data)

        details = _parse_details(d.pop("details", UNSET))

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        def _parse_state(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        state = _parse_state(d.pop("state", UNSET))

        new_presence = cls(
            details=details,
            from_=from_,
            state=state,
        )

        return new_presence
