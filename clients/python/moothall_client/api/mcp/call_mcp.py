from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.call_mcp_response_200 import CallMcpResponse200
from ...models.error_body import ErrorBody
from ...models.mcp_message import McpMessage
from ...types import Response


def _get_kwargs(
    *,
    body: McpMessage,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/mcp",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CallMcpResponse200 | ErrorBody | None:
    if response.status_code == 200:
        response_200 = CallMcpResponse200.from_dict(response.json())

        return response_200

    if 400 <= response.status_code <= 499:
        response_4xx = ErrorBody.from_dict(response.json())

        return response_4xx

    if 500 <= response.status_code <= 599:
        response_5xx = ErrorBody.from_dict(response.json())

        return response_5xx

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CallMcpResponse200 | ErrorBody]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: McpMessage,
) -> Response[CallMcpResponse200 | ErrorBody]:
    """Handles a message of the Model Context Protocol over streamable HTTP: one JSON-RPC message per
    request.

     `tools/list` describes the tools. A session identifies itself with `Authorization: Bearer <the
    token of its environment>`.

    Args:
        body (McpMessage): Body of `POST /mcp`: one message of JSON-RPC 2.0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CallMcpResponse200 | ErrorBody]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: McpMessage,
) -> CallMcpResponse200 | ErrorBody | None:
    """Handles a message of the Model Context Protocol over streamable HTTP: one JSON-RPC message per
    request.

     `tools/list` describes the tools. A session identifies itself with `Authorization: Bearer <the
    token of its environment>`.

    Args:
        body (McpMessage): Body of `POST /mcp`: one message of JSON-RPC 2.0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CallMcpResponse200 | ErrorBody
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: McpMessage,
) -> Response[CallMcpResponse200 | ErrorBody]:
    """Handles a message of the Model Context Protocol over streamable HTTP: one JSON-RPC message per
    request.

     `tools/list` describes the tools. A session identifies itself with `Authorization: Bearer <the
    token of its environment>`.

    Args:
        body (McpMessage): Body of `POST /mcp`: one message of JSON-RPC 2.0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CallMcpResponse200 | ErrorBody]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: McpMessage,
) -> CallMcpResponse200 | ErrorBody | None:
    """Handles a message of the Model Context Protocol over streamable HTTP: one JSON-RPC message per
    request.

     `tools/list` describes the tools. A session identifies itself with `Authorization: Bearer <the
    token of its environment>`.

    Args:
        body (McpMessage): Body of `POST /mcp`: one message of JSON-RPC 2.0.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CallMcpResponse200 | ErrorBody
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
