from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.turn_list import TurnList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    message: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["message"] = message

    params["limit"] = limit

    params["as"] = as_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/threads/{id}/turns".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | TurnList | None:
    if response.status_code == 200:
        response_200 = TurnList.from_dict(response.json())

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
) -> Response[ErrorBody | TurnList]:
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
    message: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> Response[ErrorBody | TurnList]:
    """Lists turns and refusals with their reasons, in order.

    Args:
        id (str):
        message (str | Unset):
        limit (int | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | TurnList]
    """

    kwargs = _get_kwargs(
        id=id,
        message=message,
        limit=limit,
        as_=as_,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    message: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> ErrorBody | TurnList | None:
    """Lists turns and refusals with their reasons, in order.

    Args:
        id (str):
        message (str | Unset):
        limit (int | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | TurnList
    """

    return sync_detailed(
        id=id,
        client=client,
        message=message,
        limit=limit,
        as_=as_,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    message: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> Response[ErrorBody | TurnList]:
    """Lists turns and refusals with their reasons, in order.

    Args:
        id (str):
        message (str | Unset):
        limit (int | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | TurnList]
    """

    kwargs = _get_kwargs(
        id=id,
        message=message,
        limit=limit,
        as_=as_,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    message: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> ErrorBody | TurnList | None:
    """Lists turns and refusals with their reasons, in order.

    Args:
        id (str):
        message (str | Unset):
        limit (int | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | TurnList
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            message=message,
            limit=limit,
            as_=as_,
        )
    ).parsed
