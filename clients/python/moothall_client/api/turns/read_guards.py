from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.guards_answer import GuardsAnswer
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    thread: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["thread"] = thread

    params["cursor"] = cursor

    params["limit"] = limit

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/guards",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | GuardsAnswer | None:
    if response.status_code == 200:
        response_200 = GuardsAnswer.from_dict(response.json())

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
) -> Response[ErrorBody | GuardsAnswer]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    thread: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
) -> Response[ErrorBody | GuardsAnswer]:
    """Lists active guards, refusals, and limits of which three quarters are used, with the way to lift
    each.

     Covers threads in memory, and threads in which a turn runs or waits for a person. Any other
    thread shows its guards if `thread` names it. Only operators see server-wide budgets. An agent
    sees only the holds, pauses and mutes of its own threads.

    Args:
        thread (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | GuardsAnswer]
    """

    kwargs = _get_kwargs(
        thread=thread,
        cursor=cursor,
        limit=limit,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    thread: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
) -> ErrorBody | GuardsAnswer | None:
    """Lists active guards, refusals, and limits of which three quarters are used, with the way to lift
    each.

     Covers threads in memory, and threads in which a turn runs or waits for a person. Any other
    thread shows its guards if `thread` names it. Only operators see server-wide budgets. An agent
    sees only the holds, pauses and mutes of its own threads.

    Args:
        thread (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | GuardsAnswer
    """

    return sync_detailed(
        client=client,
        thread=thread,
        cursor=cursor,
        limit=limit,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    thread: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
) -> Response[ErrorBody | GuardsAnswer]:
    """Lists active guards, refusals, and limits of which three quarters are used, with the way to lift
    each.

     Covers threads in memory, and threads in which a turn runs or waits for a person. Any other
    thread shows its guards if `thread` names it. Only operators see server-wide budgets. An agent
    sees only the holds, pauses and mutes of its own threads.

    Args:
        thread (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | GuardsAnswer]
    """

    kwargs = _get_kwargs(
        thread=thread,
        cursor=cursor,
        limit=limit,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    thread: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
) -> ErrorBody | GuardsAnswer | None:
    """Lists active guards, refusals, and limits of which three quarters are used, with the way to lift
    each.

     Covers threads in memory, and threads in which a turn runs or waits for a person. Any other
    thread shows its guards if `thread` names it. Only operators see server-wide budgets. An agent
    sees only the holds, pauses and mutes of its own threads.

    Args:
        thread (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | GuardsAnswer
    """

    return (
        await asyncio_detailed(
            client=client,
            thread=thread,
            cursor=cursor,
            limit=limit,
        )
    ).parsed
