import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    log: str | Unset = UNSET,
    after: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    types: str | Unset = UNSET,
    turns: int | Unset = UNSET,
    as_: str | Unset = UNSET,
    last_event_id: int | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(last_event_id, Unset):
        headers["Last-Event-ID"] = str(last_event_id)

    if not isinstance(moothall_log, Unset):
        headers["moothall-log"] = moothall_log

    params: dict[str, Any] = {}

    params["log"] = log

    params["after"] = after

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    params["types"] = types

    params["turns"] = turns

    params["as"] = as_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/threads/{id}/events/stream".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | str | None:
    if response.status_code == 200:
        response_200 = response.text
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
) -> Response[ErrorBody | str]:
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
    log: str | Unset = UNSET,
    after: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    types: str | Unset = UNSET,
    turns: int | Unset = UNSET,
    as_: str | Unset = UNSET,
    last_event_id: int | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> Response[ErrorBody | str]:
    """Streams the events of a thread: unnamed events with `id: <seq>` and an envelope as data.

     Signals have a name and no id: `presence`, `delta`, `progress`, and `turn` with the input of a
    turn, for a participant that connects by itself. `resync` means that the client was too slow:
    connect again after its position. `going-away` means that the server shuts down. Without a
    position, the stream begins with new events. A comment with the head is sent after 15 seconds of
    silence.

    Args:
        id (str):
        log (str | Unset):
        after (int | Unset):
        since (datetime.datetime | Unset):
        types (str | Unset):
        turns (int | Unset):
        as_ (str | Unset):
        last_event_id (int | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | str]
    """

    kwargs = _get_kwargs(
        id=id,
        log=log,
        after=after,
        since=since,
        types=types,
        turns=turns,
        as_=as_,
        last_event_id=last_event_id,
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
    log: str | Unset = UNSET,
    after: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    types: str | Unset = UNSET,
    turns: int | Unset = UNSET,
    as_: str | Unset = UNSET,
    last_event_id: int | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> ErrorBody | str | None:
    """Streams the events of a thread: unnamed events with `id: <seq>` and an envelope as data.

     Signals have a name and no id: `presence`, `delta`, `progress`, and `turn` with the input of a
    turn, for a participant that connects by itself. `resync` means that the client was too slow:
    connect again after its position. `going-away` means that the server shuts down. Without a
    position, the stream begins with new events. A comment with the head is sent after 15 seconds of
    silence.

    Args:
        id (str):
        log (str | Unset):
        after (int | Unset):
        since (datetime.datetime | Unset):
        types (str | Unset):
        turns (int | Unset):
        as_ (str | Unset):
        last_event_id (int | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | str
    """

    return sync_detailed(
        id=id,
        client=client,
        log=log,
        after=after,
        since=since,
        types=types,
        turns=turns,
        as_=as_,
        last_event_id=last_event_id,
        moothall_log=moothall_log,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    log: str | Unset = UNSET,
    after: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    types: str | Unset = UNSET,
    turns: int | Unset = UNSET,
    as_: str | Unset = UNSET,
    last_event_id: int | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> Response[ErrorBody | str]:
    """Streams the events of a thread: unnamed events with `id: <seq>` and an envelope as data.

     Signals have a name and no id: `presence`, `delta`, `progress`, and `turn` with the input of a
    turn, for a participant that connects by itself. `resync` means that the client was too slow:
    connect again after its position. `going-away` means that the server shuts down. Without a
    position, the stream begins with new events. A comment with the head is sent after 15 seconds of
    silence.

    Args:
        id (str):
        log (str | Unset):
        after (int | Unset):
        since (datetime.datetime | Unset):
        types (str | Unset):
        turns (int | Unset):
        as_ (str | Unset):
        last_event_id (int | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | str]
    """

    kwargs = _get_kwargs(
        id=id,
        log=log,
        after=after,
        since=since,
        types=types,
        turns=turns,
        as_=as_,
        last_event_id=last_event_id,
        moothall_log=moothall_log,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    log: str | Unset = UNSET,
    after: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    types: str | Unset = UNSET,
    turns: int | Unset = UNSET,
    as_: str | Unset = UNSET,
    last_event_id: int | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> ErrorBody | str | None:
    """Streams the events of a thread: unnamed events with `id: <seq>` and an envelope as data.

     Signals have a name and no id: `presence`, `delta`, `progress`, and `turn` with the input of a
    turn, for a participant that connects by itself. `resync` means that the client was too slow:
    connect again after its position. `going-away` means that the server shuts down. Without a
    position, the stream begins with new events. A comment with the head is sent after 15 seconds of
    silence.

    Args:
        id (str):
        log (str | Unset):
        after (int | Unset):
        since (datetime.datetime | Unset):
        types (str | Unset):
        turns (int | Unset):
        as_ (str | Unset):
        last_event_id (int | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | str
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            log=log,
            after=after,
            since=since,
            types=types,
            turns=turns,
            as_=as_,
            last_event_id=last_event_id,
            moothall_log=moothall_log,
        )
    ).parsed
