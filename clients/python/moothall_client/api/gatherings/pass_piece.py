from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.gathering_answer import GatheringAnswer
from ...models.new_piece_pass import NewPiecePass
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: NewPiecePass,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/gatherings/{id}/pass".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | GatheringAnswer | None:
    if response.status_code == 200:
        response_200 = GatheringAnswer.from_dict(response.json())

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
) -> Response[ErrorBody | GatheringAnswer]:
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
    body: NewPiecePass,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorBody | GatheringAnswer]:
    """Passes the talking piece to a speaker by name, id or number, or to the next in order. Only its
    holder can.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewPiecePass): Body of `POST /gatherings/{id}/pass`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | GatheringAnswer]
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
    body: NewPiecePass,
    idempotency_key: str | Unset = UNSET,
) -> ErrorBody | GatheringAnswer | None:
    """Passes the talking piece to a speaker by name, id or number, or to the next in order. Only its
    holder can.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewPiecePass): Body of `POST /gatherings/{id}/pass`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | GatheringAnswer
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
    body: NewPiecePass,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorBody | GatheringAnswer]:
    """Passes the talking piece to a speaker by name, id or number, or to the next in order. Only its
    holder can.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewPiecePass): Body of `POST /gatherings/{id}/pass`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | GatheringAnswer]
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
    body: NewPiecePass,
    idempotency_key: str | Unset = UNSET,
) -> ErrorBody | GatheringAnswer | None:
    """Passes the talking piece to a speaker by name, id or number, or to the next in order. Only its
    holder can.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewPiecePass): Body of `POST /gatherings/{id}/pass`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | GatheringAnswer
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
