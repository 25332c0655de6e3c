from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.command_ran import CommandRan
from ...models.error_body import ErrorBody
from ...models.new_command import NewCommand
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: NewCommand,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/threads/{id}/commands".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CommandRan | ErrorBody | None:
    if response.status_code == 200:
        response_200 = CommandRan.from_dict(response.json())

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
) -> Response[CommandRan | ErrorBody]:
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
    body: NewCommand,
    idempotency_key: str | Unset = UNSET,
) -> Response[CommandRan | ErrorBody]:
    """Runs a slash command. Messages are never read as commands.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewCommand): Body of `POST /threads/{id}/commands`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CommandRan | ErrorBody]
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
    body: NewCommand,
    idempotency_key: str | Unset = UNSET,
) -> CommandRan | ErrorBody | None:
    """Runs a slash command. Messages are never read as commands.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewCommand): Body of `POST /threads/{id}/commands`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CommandRan | ErrorBody
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
    body: NewCommand,
    idempotency_key: str | Unset = UNSET,
) -> Response[CommandRan | ErrorBody]:
    """Runs a slash command. Messages are never read as commands.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewCommand): Body of `POST /threads/{id}/commands`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CommandRan | ErrorBody]
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
    body: NewCommand,
    idempotency_key: str | Unset = UNSET,
) -> CommandRan | ErrorBody | None:
    """Runs a slash command. Messages are never read as commands.

    Args:
        id (str):
        idempotency_key (str | Unset):
        body (NewCommand): Body of `POST /threads/{id}/commands`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CommandRan | ErrorBody
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
