from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.adoption import Adoption


T = TypeVar("T", bound="NewSession")


@_attrs_define
class NewSession:
    """Body of `POST /sessions`: a program to start, or with `adopt` one that already runs.

    Attributes:
        client (str): Name of the program: one of `programs` in `GET /sessions`. Required.
        adopt (Adoption | None | Unset):
        args (list[str] | Unset): Additional arguments for the program.
        cwd (None | str | Unset): Absolute path of the working folder. If absent, the folder configured for the program,
            or
            else the server's.
        from_ (None | str | Unset): Id of the participant that asks. If absent, `user`, or the session to which the
            token
            belongs.
        name (None | str | Unset): Name of the session: a valid participant id, unique among living sessions.
        thread (None | str | Unset): For agents without a terminal: id of a thread in which they take part. A person is
            asked
            there if the program may be started.
    """

    client: str
    adopt: Adoption | None | Unset = UNSET
    args: list[str] | Unset = UNSET
    cwd: None | str | Unset = UNSET
    from_: None | str | Unset = UNSET
    name: None | str | Unset = UNSET
    thread: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.adoption import Adoption  # noqa: PLC0415

        client = self.client

        adopt: dict[str, Any] | None | Unset
        if isinstance(self.adopt, Unset):
            adopt = UNSET
        elif isinstance(self.adopt, Adoption):
            adopt = self.adopt.to_dict()
        else:
            adopt = self.adopt

        args: list[str] | Unset = UNSET
        if not isinstance(self.args, Unset):
            args = self.args

        cwd: None | str | Unset
        if isinstance(self.cwd, Unset):
            cwd = UNSET
        else:
            cwd = self.cwd

        from_: None | str | Unset
        if isinstance(self.from_, Unset):
            from_ = UNSET
        else:
            from_ = self.from_

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        thread: None | str | Unset
        if isinstance(self.thread, Unset):
            thread = UNSET
        else:
            thread = self.thread

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "client": client,
            }
        )
        if adopt is not UNSET:
            field_dict["adopt"] = adopt
        if args is not UNSET:
            field_dict["args"] = args
        if cwd is not UNSET:
            field_dict["cwd"] = cwd
        if from_ is not UNSET:
            field_dict["from"] = from_
        if name is not UNSET:
            field_dict["name"] = name
        if thread is not UNSET:
            field_dict["thread"] = thread

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.adoption import Adoption  # noqa: PLC0415

        d = dict(src_dict)
        client = d.pop("client")

        def _parse_adopt(data: object) -> Adoption | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                adopt_type_0 = Adoption.from_dict(data)

                return adopt_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Adoption | None | Unset, data)

        adopt = _parse_adopt(d.pop("adopt", UNSET))

        args = cast(list[str], d.pop("args", UNSET))

        def _parse_cwd(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cwd = _parse_cwd(d.pop("cwd", UNSET))

        def _parse_from_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_ = _parse_from_(d.pop("from", UNSET))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_thread(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        thread = _parse_thread(d.pop("thread", UNSET))

        new_session = cls(
            client=client,
            adopt=adopt,
            args=args,
            cwd=cwd,
            from_=from_,
            name=name,
            thread=thread,
        )

        return new_session
