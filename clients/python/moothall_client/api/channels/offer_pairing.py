from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.pairing_code import PairingCode
from ...models.pairing_request import PairingRequest
from ...types import UNSET, Response, Unset


def _get_kwargs(
    channel: str,
    *,
    body: None | PairingRequest | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/channels/{channel}/pairings".format(
            channel=quote(str(channel), safe=""),
        ),
    }

    if isinstance(body, PairingRequest):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | PairingCode | None:
    if response.status_code == 200:
        response_200 = PairingCode.from_dict(response.json())

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
) -> Response[ErrorBody | PairingCode]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    channel: str,
    *,
    client: AuthenticatedClient,
    body: None | PairingRequest | Unset = UNSET,
) -> Response[ErrorBody | PairingCode]:
    """Makes a code that pairs one account of a channel with the caller. The account then acts as the
    caller, with these scopes.

    Args:
        channel (str):
        body (None | PairingRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | PairingCode]
    """

    kwargs = _get_kwargs(
        channel=channel,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    channel: str,
    *,
    client: AuthenticatedClient,
    body: None | PairingRequest | Unset = UNSET,
) -> ErrorBody | PairingCode | None:
    """Makes a code that pairs one account of a channel with the caller. The account then acts as the
    caller, with these scopes.

    Args:
        channel (str):
        body (None | PairingRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | PairingCode
    """

    return sync_detailed(
        channel=channel,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    channel: str,
    *,
    client: AuthenticatedClient,
    body: None | PairingRequest | Unset = UNSET,
) -> Response[ErrorBody | PairingCode]:
    """Makes a code that pairs one account of a channel with the caller. The account then acts as the
    caller, with these scopes.

    Args:
        channel (str):
        body (None | PairingRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | PairingCode]
    """

    kwargs = _get_kwargs(
        channel=channel,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    channel: str,
    *,
    client: AuthenticatedClient,
    body: None | PairingRequest | Unset = UNSET,
) -> ErrorBody | PairingCode | None:
    """Makes a code that pairs one account of a channel with the caller. The account then acts as the
    caller, with these scopes.

    Args:
        channel (str):
        body (None | PairingRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | PairingCode
    """

    return (
        await asyncio_detailed(
            channel=channel,
            client=client,
            body=body,
        )
    ).parsed
