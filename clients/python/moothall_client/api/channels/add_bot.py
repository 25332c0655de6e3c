from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.bot_entry import BotEntry
from ...models.error_body import ErrorBody
from ...models.new_bot import NewBot
from ...types import Response


def _get_kwargs(
    channel: str,
    *,
    body: NewBot,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/channels/{channel}/bots".format(
            channel=quote(str(channel), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> BotEntry | ErrorBody | None:
    if response.status_code == 200:
        response_200 = BotEntry.from_dict(response.json())

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
) -> Response[BotEntry | ErrorBody]:
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
    body: NewBot,
) -> Response[BotEntry | ErrorBody]:
    """Gives an agent a bot. The token is checked with the product, kept in the data folder, and never
    shown again.

    Args:
        channel (str):
        body (NewBot): Body of `POST /channels/{channel}/bots`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BotEntry | ErrorBody]
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
    body: NewBot,
) -> BotEntry | ErrorBody | None:
    """Gives an agent a bot. The token is checked with the product, kept in the data folder, and never
    shown again.

    Args:
        channel (str):
        body (NewBot): Body of `POST /channels/{channel}/bots`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BotEntry | ErrorBody
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
    body: NewBot,
) -> Response[BotEntry | ErrorBody]:
    """Gives an agent a bot. The token is checked with the product, kept in the data folder, and never
    shown again.

    Args:
        channel (str):
        body (NewBot): Body of `POST /channels/{channel}/bots`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BotEntry | ErrorBody]
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
    body: NewBot,
) -> BotEntry | ErrorBody | None:
    """Gives an agent a bot. The token is checked with the product, kept in the data folder, and never
    shown again.

    Args:
        channel (str):
        body (NewBot): Body of `POST /channels/{channel}/bots`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BotEntry | ErrorBody
    """

    return (
        await asyncio_detailed(
            channel=channel,
            client=client,
            body=body,
        )
    ).parsed
