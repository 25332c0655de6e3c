from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.new_session import NewSession
from ...models.session_entry import SessionEntry
from ...models.start_asked import StartAsked
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: NewSession,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/sessions",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | SessionEntry | StartAsked | None:
    if response.status_code == 200:
        response_200 = SessionEntry.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = StartAsked.from_dict(response.json())

        return response_202

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
) -> Response[ErrorBody | SessionEntry | StartAsked]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: NewSession,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorBody | SessionEntry | StartAsked]:
    """Starts a program in its own terminal. With `adopt`, takes over a program that already runs in a
    terminal.

     If an agent may not start it by itself, a person is asked first. The answer is 202 then, and a
    `permission` event in the thread tells the outcome.

    Args:
        idempotency_key (str | Unset):
        body (NewSession): Body of `POST /sessions`: a program to start, or with `adopt` one that
            already runs.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | SessionEntry | StartAsked]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: NewSession,
    idempotency_key: str | Unset = UNSET,
) -> ErrorBody | SessionEntry | StartAsked | None:
    """Starts a program in its own terminal. With `adopt`, takes over a program that already runs in a
    terminal.

     If an agent may not start it by itself, a person is asked first. The answer is 202 then, and a
    `permission` event in the thread tells the outcome.

    Args:
        idempotency_key (str | Unset):
        body (NewSession): Body of `POST /sessions`: a program to start, or with `adopt` one that
            already runs.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | SessionEntry | StartAsked
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: NewSession,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorBody | SessionEntry | StartAsked]:
    """Starts a program in its own terminal. With `adopt`, takes over a program that already runs in a
    terminal.

     If an agent may not start it by itself, a person is asked first. The answer is 202 then, and a
    `permission` event in the thread tells the outcome.

    Args:
        idempotency_key (str | Unset):
        body (NewSession): Body of `POST /sessions`: a program to start, or with `adopt` one that
            already runs.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | SessionEntry | StartAsked]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: NewSession,
    idempotency_key: str | Unset = UNSET,
) -> ErrorBody | SessionEntry | StartAsked | None:
    """Starts a program in its own terminal. With `adopt`, takes over a program that already runs in a
    terminal.

     If an agent may not start it by itself, a person is asked first. The answer is 202 then, and a
    `permission` event in the thread tells the outcome.

    Args:
        idempotency_key (str | Unset):
        body (NewSession): Body of `POST /sessions`: a program to start, or with `adopt` one that
            already runs.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | SessionEntry | StartAsked
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
