from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.new_presence import NewPresence
from ...models.presence_accepted import PresenceAccepted
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: NewPresence,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/threads/{id}/presence".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | PresenceAccepted | None:
    if response.status_code == 200:
        response_200 = PresenceAccepted.from_dict(response.json())

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
) -> Response[ErrorBody | PresenceAccepted]:
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
    body: NewPresence,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorBody | PresenceAccepted]:
    """Reports a participant's presence. It counts for 120 seconds and is never logged. Idempotency
    keys of these requests are lost when the server restarts.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewPresence): Body of `POST /threads/{id}/presence`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | PresenceAccepted]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: NewPresence,
    idempotency_key: str | Unset = UNSET,
) -> ErrorBody | PresenceAccepted | None:
    """Reports a participant's presence. It counts for 120 seconds and is never logged. Idempotency
    keys of these requests are lost when the server restarts.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewPresence): Body of `POST /threads/{id}/presence`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | PresenceAccepted
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: NewPresence,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorBody | PresenceAccepted]:
    """Reports a participant's presence. It counts for 120 seconds and is never logged. Idempotency
    keys of these requests are lost when the server restarts.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewPresence): Body of `POST /threads/{id}/presence`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | PresenceAccepted]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: NewPresence,
    idempotency_key: str | Unset = UNSET,
) -> ErrorBody | PresenceAccepted | None:
    """Reports a participant's presence. It counts for 120 seconds and is never logged. Idempotency
    keys of these requests are lost when the server restarts.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewPresence): Body of `POST /threads/{id}/presence`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | PresenceAccepted
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
