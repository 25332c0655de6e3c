from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.actor import Actor
from ...models.error_body import ErrorBody
from ...models.gathering_answer import GatheringAnswer
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: Actor | None | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/gatherings/{id}/end".format(
            id=quote(str(id), safe=""),
        ),
    }

    if isinstance(body, Actor):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body

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
    body: Actor | None | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorBody | GatheringAnswer]:
    """Ends a gathering: speaking stops, and the harvest is requested. A second request while the
    harvest is written closes the gathering without one.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (Actor | None | Unset):

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
    body: Actor | None | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> ErrorBody | GatheringAnswer | None:
    """Ends a gathering: speaking stops, and the harvest is requested. A second request while the
    harvest is written closes the gathering without one.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (Actor | None | Unset):

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
    body: Actor | None | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[ErrorBody | GatheringAnswer]:
    """Ends a gathering: speaking stops, and the harvest is requested. A second request while the
    harvest is written closes the gathering without one.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (Actor | None | Unset):

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
    body: Actor | None | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> ErrorBody | GatheringAnswer | None:
    """Ends a gathering: speaking stops, and the harvest is requested. A second request while the
    harvest is written closes the gathering without one.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (Actor | None | Unset):

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
