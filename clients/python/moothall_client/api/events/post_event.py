from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.accepted import Accepted
from ...models.error_body import ErrorBody
from ...models.new_event import NewEvent
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: NewEvent,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/threads/{id}/events".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Accepted | ErrorBody | None:
    if response.status_code == 200:
        response_200 = Accepted.from_dict(response.json())

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
) -> Response[Accepted | ErrorBody]:
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
    body: NewEvent,
    idempotency_key: str | Unset = UNSET,
) -> Response[Accepted | ErrorBody]:
    """Posts an event: a message, a control, a new name, a pass, or an event of the client's own type.

     A success means that the event is committed and synced.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewEvent): Body of `POST /threads/{id}/events`. `id`, `ts`, `seq` and `via` belong
            to the server and are
            refused. The answer warns of other unknown keys.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Accepted | ErrorBody]
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
    body: NewEvent,
    idempotency_key: str | Unset = UNSET,
) -> Accepted | ErrorBody | None:
    """Posts an event: a message, a control, a new name, a pass, or an event of the client's own type.

     A success means that the event is committed and synced.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewEvent): Body of `POST /threads/{id}/events`. `id`, `ts`, `seq` and `via` belong
            to the server and are
            refused. The answer warns of other unknown keys.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Accepted | ErrorBody
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
    body: NewEvent,
    idempotency_key: str | Unset = UNSET,
) -> Response[Accepted | ErrorBody]:
    """Posts an event: a message, a control, a new name, a pass, or an event of the client's own type.

     A success means that the event is committed and synced.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewEvent): Body of `POST /threads/{id}/events`. `id`, `ts`, `seq` and `via` belong
            to the server and are
            refused. The answer warns of other unknown keys.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Accepted | ErrorBody]
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
    body: NewEvent,
    idempotency_key: str | Unset = UNSET,
) -> Accepted | ErrorBody | None:
    """Posts an event: a message, a control, a new name, a pass, or an event of the client's own type.

     A success means that the event is committed and synced.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewEvent): Body of `POST /threads/{id}/events`. `id`, `ts`, `seq` and `via` belong
            to the server and are
            refused. The answer warns of other unknown keys.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Accepted | ErrorBody
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
