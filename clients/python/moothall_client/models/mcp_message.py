from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.mcp_message_params_type_0 import McpMessageParamsType0


T = TypeVar("T", bound="McpMessage")


@_attrs_define
class McpMessage:
    """Body of `POST /mcp`: one message of JSON-RPC 2.0.

    Attributes:
        jsonrpc (str): Version of JSON-RPC: always `2.0`.
        id (Any | Unset): Id of the request, repeated in the answer: a text or a number. Absent if no answer is
            wanted.
        method (None | str | Unset): Name of the method, e.g. `tools/call`.
        params (McpMessageParamsType0 | None | Unset): Parameters of the method, as an object.
    """

    jsonrpc: str
    id: Any | Unset = UNSET
    method: None | str | Unset = UNSET
    params: McpMessageParamsType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.mcp_message_params_type_0 import McpMessageParamsType0  # noqa: PLC0415

        jsonrpc = self.jsonrpc

        id = self.id

        method: None | str | Unset
        if isinstance(self.method, Unset):
            method = UNSET
        else:
            method = self.method

        params: dict[str, Any] | None | Unset
        if isinstance(self.params, Unset):
            params = UNSET
        elif isinstance(self.params, McpMessageParamsType0):
            params = self.params.to_dict()
        else:
            params = self.params

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "jsonrpc": jsonrpc,
            }
        )
        if id is not UNSET:
            field_dict["id"] = id
        if method is not UNSET:
            field_dict["method"] = method
        if params is not UNSET:
            field_dict["params"] = params

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.mcp_message_params_type_0 import McpMessageParamsType0  # noqa: PLC0415

        d = dict(src_dict)
        jsonrpc = d.pop("jsonrpc")

        id = d.pop("id", UNSET)

        def _parse_method(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        method = _parse_method(d.pop("method", UNSET))

        def _parse_params(data: object) -> McpMessageParamsType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                params_type_0 = McpMessageParamsType0.from_dict(data)

                return params_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(McpMessageParamsType0 | None | Unset, data)

        params = _parse_params(d.pop("params", UNSET))

        mcp_message = cls(
            jsonrpc=jsonrpc,
            id=id,
            method=method,
            params=params,
        )

        mcp_message.additional_properties = d
        return mcp_message

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
