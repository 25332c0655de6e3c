from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    as_: str | Unset = UNSET,
    follow: str | Unset = UNSET,
    screens: str | Unset = UNSET,
    types: str | Unset = UNSET,
    log: str | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(moothall_log, Unset):
        headers["moothall-log"] = moothall_log

    params: dict[str, Any] = {}

    params["as"] = as_

    params["follow"] = follow

    params["screens"] = screens

    params["types"] = types

    params["log"] = log

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/events/stream",
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
    *,
    client: AuthenticatedClient,
    as_: str | Unset = UNSET,
    follow: str | Unset = UNSET,
    screens: str | Unset = UNSET,
    types: str | Unset = UNSET,
    log: str | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> Response[ErrorBody | str]:
    """Streams notifications of all threads: unnamed events with a thread and its new head.

     Signals have a name: `presence`; `states` with changed states of participants; `needs` with all
    that waits for the reader in a thread, if something of it may have changed; and `sessions` when
    a session began, ended or changed its activity, or a link changed. List threads and sessions
    after opening the stream. `resync` means that the client was too slow and has to list them
    again.

    With `follow` or `screens`, the same stream also brings what the streams of these threads and
    terminals bring, so that a client needs one connection. Its first event is `open`, with the
    id that `PUT /events/stream/{id}` takes to change the list. `following`, `refused` and `left`
    tell of each source that it was opened, could not be opened, or has ended. The events of threads
    are envelopes with `id: <seq>`, and their signals name the turn or the thread.

    Args:
        as_ (str | Unset):
        follow (str | Unset):
        screens (str | Unset):
        types (str | Unset):
        log (str | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | str]
    """

    kwargs = _get_kwargs(
        as_=as_,
        follow=follow,
        screens=screens,
        types=types,
        log=log,
        moothall_log=moothall_log,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    as_: str | Unset = UNSET,
    follow: str | Unset = UNSET,
    screens: str | Unset = UNSET,
    types: str | Unset = UNSET,
    log: str | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> ErrorBody | str | None:
    """Streams notifications of all threads: unnamed events with a thread and its new head.

     Signals have a name: `presence`; `states` with changed states of participants; `needs` with all
    that waits for the reader in a thread, if something of it may have changed; and `sessions` when
    a session began, ended or changed its activity, or a link changed. List threads and sessions
    after opening the stream. `resync` means that the client was too slow and has to list them
    again.

    With `follow` or `screens`, the same stream also brings what the streams of these threads and
    terminals bring, so that a client needs one connection. Its first event is `open`, with the
    id that `PUT /events/stream/{id}` takes to change the list. `following`, `refused` and `left`
    tell of each source that it was opened, could not be opened, or has ended. The events of threads
    are envelopes with `id: <seq>`, and their signals name the turn or the thread.

    Args:
        as_ (str | Unset):
        follow (str | Unset):
        screens (str | Unset):
        types (str | Unset):
        log (str | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | str
    """

    return sync_detailed(
        client=client,
        as_=as_,
        follow=follow,
        screens=screens,
        types=types,
        log=log,
        moothall_log=moothall_log,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    as_: str | Unset = UNSET,
    follow: str | Unset = UNSET,
    screens: str | Unset = UNSET,
    types: str | Unset = UNSET,
    log: str | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> Response[ErrorBody | str]:
    """Streams notifications of all threads: unnamed events with a thread and its new head.

     Signals have a name: `presence`; `states` with changed states of participants; `needs` with all
    that waits for the reader in a thread, if something of it may have changed; and `sessions` when
    a session began, ended or changed its activity, or a link changed. List threads and sessions
    after opening the stream. `resync` means that the client was too slow and has to list them
    again.

    With `follow` or `screens`, the same stream also brings what the streams of these threads and
    terminals bring, so that a client needs one connection. Its first event is `open`, with the
    id that `PUT /events/stream/{id}` takes to change the list. `following`, `refused` and `left`
    tell of each source that it was opened, could not be opened, or has ended. The events of threads
    are envelopes with `id: <seq>`, and their signals name the turn or the thread.

    Args:
        as_ (str | Unset):
        follow (str | Unset):
        screens (str | Unset):
        types (str | Unset):
        log (str | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | str]
    """

    kwargs = _get_kwargs(
        as_=as_,
        follow=follow,
        screens=screens,
        types=types,
        log=log,
        moothall_log=moothall_log,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    as_: str | Unset = UNSET,
    follow: str | Unset = UNSET,
    screens: str | Unset = UNSET,
    types: str | Unset = UNSET,
    log: str | Unset = UNSET,
    moothall_log: str | Unset = UNSET,
) -> ErrorBody | str | None:
    """Streams notifications of all threads: unnamed events with a thread and its new head.

     Signals have a name: `presence`; `states` with changed states of participants; `needs` with all
    that waits for the reader in a thread, if something of it may have changed; and `sessions` when
    a session began, ended or changed its activity, or a link changed. List threads and sessions
    after opening the stream. `resync` means that the client was too slow and has to list them
    again.

    With `follow` or `screens`, the same stream also brings what the streams of these threads and
    terminals bring, so that a client needs one connection. Its first event is `open`, with the
    id that `PUT /events/stream/{id}` takes to change the list. `following`, `refused` and `left`
    tell of each source that it was opened, could not be opened, or has ended. The events of threads
    are envelopes with `id: <seq>`, and their signals name the turn or the thread.

    Args:
        as_ (str | Unset):
        follow (str | Unset):
        screens (str | Unset):
        types (str | Unset):
        log (str | Unset):
        moothall_log (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | str
    """

    return (
        await asyncio_detailed(
            client=client,
            as_=as_,
            follow=follow,
            screens=screens,
            types=types,
            log=log,
            moothall_log=moothall_log,
        )
    ).parsed
