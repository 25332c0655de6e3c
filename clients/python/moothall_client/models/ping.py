from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Ping")


@_attrs_define
class Ping:
    """Answer of `GET /ping`.

    Attributes:
        name (str): Name of the server for people: `Moothall`.
        server (str): Always `moothall`. Programs recognise the server by it.
        status (str): Always `ok`: the server answers.
        timestamp (str): Time of the server: RFC 3339, UTC, milliseconds.
        version (str): Version of the server's program.
    """

    name: str
    server: str
    status: str
    timestamp: str
    version: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        server = self.server

        status = self.status

        timestamp = self.timestamp

        version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "server": server,
                "status": status,
                "timestamp": timestamp,
                "version": version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        server = d.pop("server")

        status = d.pop("status")

        timestamp = d.pop("timestamp")

        version = d.pop("version")

        ping = cls(
            name=name,
            server=server,
            status=status,
            timestamp=timestamp,
            version=version,
        )

        ping.additional_properties = d
        return ping

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
