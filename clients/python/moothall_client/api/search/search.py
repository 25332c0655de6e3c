from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.search_answer import SearchAnswer
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    q: str,
    limit: int | Unset = UNSET,
    cursor: int | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["q"] = q

    params["limit"] = limit

    params["cursor"] = cursor

    params["as"] = as_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/search",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | SearchAnswer | None:
    if response.status_code == 200:
        response_200 = SearchAnswer.from_dict(response.json())

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
) -> Response[ErrorBody | SearchAnswer]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    q: str,
    limit: int | Unset = UNSET,
    cursor: int | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> Response[ErrorBody | SearchAnswer]:
    """Searches messages, newest first.

     Words and `"phrases"` must all match. `from:` and `in:` take ids and names, `after:` and
    `before:` take days or times.

    Args:
        q (str):
        limit (int | Unset):
        cursor (int | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | SearchAnswer]
    """

    kwargs = _get_kwargs(
        q=q,
        limit=limit,
        cursor=cursor,
        as_=as_,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    q: str,
    limit: int | Unset = UNSET,
    cursor: int | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> ErrorBody | SearchAnswer | None:
    """Searches messages, newest first.

     Words and `"phrases"` must all match. `from:` and `in:` take ids and names, `after:` and
    `before:` take days or times.

    Args:
        q (str):
        limit (int | Unset):
        cursor (int | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | SearchAnswer
    """

    return sync_detailed(
        client=client,
        q=q,
        limit=limit,
        cursor=cursor,
        as_=as_,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    q: str,
    limit: int | Unset = UNSET,
    cursor: int | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> Response[ErrorBody | SearchAnswer]:
    """Searches messages, newest first.

     Words and `"phrases"` must all match. `from:` and `in:` take ids and names, `after:` and
    `before:` take days or times.

    Args:
        q (str):
        limit (int | Unset):
        cursor (int | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | SearchAnswer]
    """

    kwargs = _get_kwargs(
        q=q,
        limit=limit,
        cursor=cursor,
        as_=as_,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    q: str,
    limit: int | Unset = UNSET,
    cursor: int | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> ErrorBody | SearchAnswer | None:
    """Searches messages, newest first.

     Words and `"phrases"` must all match. `from:` and `in:` take ids and names, `after:` and
    `before:` take days or times.

    Args:
        q (str):
        limit (int | Unset):
        cursor (int | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | SearchAnswer
    """

    return (
        await asyncio_detailed(
            client=client,
            q=q,
            limit=limit,
            cursor=cursor,
            as_=as_,
        )
    ).parsed
