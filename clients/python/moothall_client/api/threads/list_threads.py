from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.thread_list import ThreadList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    archived: bool | Unset = UNSET,
    after: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    chat: str | Unset = UNSET,
    as_: str | Unset = UNSET,
    lines: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["archived"] = archived

    params["after"] = after

    params["limit"] = limit

    params["chat"] = chat

    params["as"] = as_

    params["lines"] = lines

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/threads",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | ThreadList | None:
    if response.status_code == 200:
        response_200 = ThreadList.from_dict(response.json())

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
) -> Response[ErrorBody | ThreadList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    archived: bool | Unset = UNSET,
    after: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    chat: str | Unset = UNSET,
    as_: str | Unset = UNSET,
    lines: int | Unset = UNSET,
) -> Response[ErrorBody | ThreadList]:
    """Lists threads in the order in which they were created.

    Args:
        archived (bool | Unset):
        after (int | Unset):
        limit (int | Unset):
        chat (str | Unset):
        as_ (str | Unset):
        lines (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | ThreadList]
    """

    kwargs = _get_kwargs(
        archived=archived,
        after=after,
        limit=limit,
        chat=chat,
        as_=as_,
        lines=lines,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    archived: bool | Unset = UNSET,
    after: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    chat: str | Unset = UNSET,
    as_: str | Unset = UNSET,
    lines: int | Unset = UNSET,
) -> ErrorBody | ThreadList | None:
    """Lists threads in the order in which they were created.

    Args:
        archived (bool | Unset):
        after (int | Unset):
        limit (int | Unset):
        chat (str | Unset):
        as_ (str | Unset):
        lines (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | ThreadList
    """

    return sync_detailed(
        client=client,
        archived=archived,
        after=after,
        limit=limit,
        chat=chat,
        as_=as_,
        lines=lines,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    archived: bool | Unset = UNSET,
    after: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    chat: str | Unset = UNSET,
    as_: str | Unset = UNSET,
    lines: int | Unset = UNSET,
) -> Response[ErrorBody | ThreadList]:
    """Lists threads in the order in which they were created.

    Args:
        archived (bool | Unset):
        after (int | Unset):
        limit (int | Unset):
        chat (str | Unset):
        as_ (str | Unset):
        lines (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | ThreadList]
    """

    kwargs = _get_kwargs(
        archived=archived,
        after=after,
        limit=limit,
        chat=chat,
        as_=as_,
        lines=lines,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    archived: bool | Unset = UNSET,
    after: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    chat: str | Unset = UNSET,
    as_: str | Unset = UNSET,
    lines: int | Unset = UNSET,
) -> ErrorBody | ThreadList | None:
    """Lists threads in the order in which they were created.

    Args:
        archived (bool | Unset):
        after (int | Unset):
        limit (int | Unset):
        chat (str | Unset):
        as_ (str | Unset):
        lines (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | ThreadList
    """

    return (
        await asyncio_detailed(
            client=client,
            archived=archived,
            after=after,
            limit=limit,
            chat=chat,
            as_=as_,
            lines=lines,
        )
    ).parsed
