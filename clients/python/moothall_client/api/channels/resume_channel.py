from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.channel_resumed import ChannelResumed
from ...models.error_body import ErrorBody
from ...types import Response


def _get_kwargs(
    channel: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/channels/{channel}/resume".format(
            channel=quote(str(channel), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ChannelResumed | ErrorBody | None:
    if response.status_code == 200:
        response_200 = ChannelResumed.from_dict(response.json())

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
) -> Response[ChannelResumed | ErrorBody]:
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
) -> Response[ChannelResumed | ErrorBody]:
    """Lets a channel run again that stopped because the log was restored or copied, and bots that
    stopped because another program spoke as them.

    Args:
        channel (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ChannelResumed | ErrorBody]
    """

    kwargs = _get_kwargs(
        channel=channel,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    channel: str,
    *,
    client: AuthenticatedClient,
) -> ChannelResumed | ErrorBody | None:
    """Lets a channel run again that stopped because the log was restored or copied, and bots that
    stopped because another program spoke as them.

    Args:
        channel (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ChannelResumed | ErrorBody
    """

    return sync_detailed(
        channel=channel,
        client=client,
    ).parsed


async def asyncio_detailed(
    channel: str,
    *,
    client: AuthenticatedClient,
) -> Response[ChannelResumed | ErrorBody]:
    """Lets a channel run again that stopped because the log was restored or copied, and bots that
    stopped because another program spoke as them.

    Args:
        channel (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ChannelResumed | ErrorBody]
    """

    kwargs = _get_kwargs(
        channel=channel,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    channel: str,
    *,
    client: AuthenticatedClient,
) -> ChannelResumed | ErrorBody | None:
    """Lets a channel run again that stopped because the log was restored or copied, and bots that
    stopped because another program spoke as them.

    Args:
        channel (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ChannelResumed | ErrorBody
    """

    return (
        await asyncio_detailed(
            channel=channel,
            client=client,
        )
    ).parsed
