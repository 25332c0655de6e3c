from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.bot_offered import BotOffered
from ...models.error_body import ErrorBody
from ...types import Response


def _get_kwargs(
    channel: str,
    agent: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/channels/{channel}/bots/{agent}/offer".format(
            channel=quote(str(channel), safe=""),
            agent=quote(str(agent), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> BotOffered | ErrorBody | None:
    if response.status_code == 200:
        response_200 = BotOffered.from_dict(response.json())

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
) -> Response[BotOffered | ErrorBody]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    channel: str,
    agent: str,
    *,
    client: AuthenticatedClient,
) -> Response[BotOffered | ErrorBody]:
    """Offers the caller's paired accounts to make a bot for an agent by a button, without a copied
    token. The button works for an hour, and the bot is connected once it is made. This needs a
    connected bot that may manage bots. It has not been tried on the real service yet.

    Args:
        channel (str):
        agent (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BotOffered | ErrorBody]
    """

    kwargs = _get_kwargs(
        channel=channel,
        agent=agent,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    channel: str,
    agent: str,
    *,
    client: AuthenticatedClient,
) -> BotOffered | ErrorBody | None:
    """Offers the caller's paired accounts to make a bot for an agent by a button, without a copied
    token. The button works for an hour, and the bot is connected once it is made. This needs a
    connected bot that may manage bots. It has not been tried on the real service yet.

    Args:
        channel (str):
        agent (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BotOffered | ErrorBody
    """

    return sync_detailed(
        channel=channel,
        agent=agent,
        client=client,
    ).parsed


async def asyncio_detailed(
    channel: str,
    agent: str,
    *,
    client: AuthenticatedClient,
) -> Response[BotOffered | ErrorBody]:
    """Offers the caller's paired accounts to make a bot for an agent by a button, without a copied
    token. The button works for an hour, and the bot is connected once it is made. This needs a
    connected bot that may manage bots. It has not been tried on the real service yet.

    Args:
        channel (str):
        agent (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BotOffered | ErrorBody]
    """

    kwargs = _get_kwargs(
        channel=channel,
        agent=agent,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    channel: str,
    agent: str,
    *,
    client: AuthenticatedClient,
) -> BotOffered | ErrorBody | None:
    """Offers the caller's paired accounts to make a bot for an agent by a button, without a copied
    token. The button works for an hour, and the bot is connected once it is made. This needs a
    connected bot that may manage bots. It has not been tried on the real service yet.

    Args:
        channel (str):
        agent (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BotOffered | ErrorBody
    """

    return (
        await asyncio_detailed(
            channel=channel,
            agent=agent,
            client=client,
        )
    ).parsed
