from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.keys_typed import KeysTyped
from ...models.new_keys import NewKeys
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: NewKeys,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/sessions/{id}/keys".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | KeysTyped | None:
    if response.status_code == 200:
        response_200 = KeysTyped.from_dict(response.json())

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
) -> Response[ErrorBody | KeysTyped]:
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
    body: NewKeys,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorBody | KeysTyped]:
    """Types into a session's terminal, as the person at it.

     The first request takes the terminal over: its room is told once, and the server types nothing
    into it until `release`, or until two minutes have passed without a request. Only a person may,
    with the right to attach. Without `keys`, the terminal is only taken over.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewKeys): Body of `POST /sessions/{id}/keys`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | KeysTyped]
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
    body: NewKeys,
    idempotency_key: str | Unset = UNSET,
) -> ErrorBody | KeysTyped | None:
    """Types into a session's terminal, as the person at it.

     The first request takes the terminal over: its room is told once, and the server types nothing
    into it until `release`, or until two minutes have passed without a request. Only a person may,
    with the right to attach. Without `keys`, the terminal is only taken over.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewKeys): Body of `POST /sessions/{id}/keys`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | KeysTyped
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
    body: NewKeys,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorBody | KeysTyped]:
    """Types into a session's terminal, as the person at it.

     The first request takes the terminal over: its room is told once, and the server types nothing
    into it until `release`, or until two minutes have passed without a request. Only a person may,
    with the right to attach. Without `keys`, the terminal is only taken over.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewKeys): Body of `POST /sessions/{id}/keys`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | KeysTyped]
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
    body: NewKeys,
    idempotency_key: str | Unset = UNSET,
) -> ErrorBody | KeysTyped | None:
    """Types into a session's terminal, as the person at it.

     The first request takes the terminal over: its room is told once, and the server types nothing
    into it until `release`, or until two minutes have passed without a request. Only a person may,
    with the right to attach. Without `keys`, the terminal is only taken over.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewKeys): Body of `POST /sessions/{id}/keys`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | KeysTyped
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
