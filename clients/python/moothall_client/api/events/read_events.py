import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.event_page import EventPage
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    after: int | Unset = UNSET,
    before: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    limit: int | Unset = UNSET,
    log: str | Unset = UNSET,
    types: str | Unset = UNSET,
    as_: str | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(moothall_log, Unset):
        headers["moothall-log"] = moothall_log

    params: dict[str, Any] = {}

    params["after"] = after

    params["before"] = before

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    params["limit"] = limit

    params["log"] = log

    params["types"] = types

    params["as"] = as_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/threads/{id}/events".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | EventPage | None:
    if response.status_code == 200:
        response_200 = EventPage.from_dict(response.json())

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
) -> Response[ErrorBody | EventPage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    after: int | Unset = UNSET,
    before: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    limit: int | Unset = UNSET,
    log: str | Unset = UNSET,
    types: str | Unset = UNSET,
    as_: str | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> Response[ErrorBody | EventPage]:
    """Returns the events of a thread.

    Args:
        id (str):
        after (int | Unset):
        before (int | Unset):
        since (datetime.datetime | Unset):
        limit (int | Unset):
        log (str | Unset):
        types (str | Unset):
        as_ (str | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | EventPage]
    """

    kwargs = _get_kwargs(
        id=id,
        after=after,
        before=before,
        since=since,
        limit=limit,
        log=log,
        types=types,
        as_=as_,
        moothall_log=moothall_log,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    after: int | Unset = UNSET,
    before: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    limit: int | Unset = UNSET,
    log: str | Unset = UNSET,
    types: str | Unset = UNSET,
    as_: str | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> ErrorBody | EventPage | None:
    """Returns the events of a thread.

    Args:
        id (str):
        after (int | Unset):
        before (int | Unset):
        since (datetime.datetime | Unset):
        limit (int | Unset):
        log (str | Unset):
        types (str | Unset):
        as_ (str | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | EventPage
    """

    return sync_detailed(
        id=id,
        client=client,
        after=after,
        before=before,
        since=since,
        limit=limit,
        log=log,
        types=types,
        as_=as_,
        moothall_log=moothall_log,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    after: int | Unset = UNSET,
    before: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    limit: int | Unset = UNSET,
    log: str | Unset = UNSET,
    types: str | Unset = UNSET,
    as_: str | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> Response[ErrorBody | EventPage]:
    """Returns the events of a thread.

    Args:
        id (str):
        after (int | Unset):
        before (int | Unset):
        since (datetime.datetime | Unset):
        limit (int | Unset):
        log (str | Unset):
        types (str | Unset):
        as_ (str | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | EventPage]
    """

    kwargs = _get_kwargs(
        id=id,
        after=after,
        before=before,
        since=since,
        limit=limit,
        log=log,
        types=types,
        as_=as_,
        moothall_log=moothall_log,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    after: int | Unset = UNSET,
    before: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    limit: int | Unset = UNSET,
    log: str | Unset = UNSET,
    types: str | Unset = UNSET,
    as_: str | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> ErrorBody | EventPage | None:
    """Returns the events of a thread.

    Args:
        id (str):
        after (int | Unset):
        before (int | Unset):
        since (datetime.datetime | Unset):
        limit (int | Unset):
        log (str | Unset):
        types (str | Unset):
        as_ (str | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | EventPage
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            after=after,
            before=before,
            since=since,
            limit=limit,
            log=log,
            types=types,
            as_=as_,
            moothall_log=moothall_log,
        )
    ).parsed
