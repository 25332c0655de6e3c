from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.turn_context import TurnContext
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    as_: str | Unset = UNSET,
    past: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["as"] = as_

    params["past"] = past

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/turns/{id}/context".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | TurnContext | None:
    if response.status_code == 200:
        response_200 = TurnContext.from_dict(response.json())

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
) -> Response[ErrorBody | TurnContext]:
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
    as_: str | Unset = UNSET,
    past: int | Unset = UNSET,
) -> Response[ErrorBody | TurnContext]:
    """Returns the input of a turn: the text that its participant reads before it answers.

     A participant that streams events gets it there as a `turn` event. With `past=1` also that of a
    turn that has ended, composed from the log as it was at the turn's start; words that were erased
    since are not in it.

    Args:
        id (str):
        as_ (str | Unset):
        past (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | TurnContext]
    """

    kwargs = _get_kwargs(
        id=id,
        as_=as_,
        past=past,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    as_: str | Unset = UNSET,
    past: int | Unset = UNSET,
) -> ErrorBody | TurnContext | None:
    """Returns the input of a turn: the text that its participant reads before it answers.

     A participant that streams events gets it there as a `turn` event. With `past=1` also that of a
    turn that has ended, composed from the log as it was at the turn's start; words that were erased
    since are not in it.

    Args:
        id (str):
        as_ (str | Unset):
        past (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | TurnContext
    """

    return sync_detailed(
        id=id,
        client=client,
        as_=as_,
        past=past,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    as_: str | Unset = UNSET,
    past: int | Unset = UNSET,
) -> Response[ErrorBody | TurnContext]:
    """Returns the input of a turn: the text that its participant reads before it answers.

     A participant that streams events gets it there as a `turn` event. With `past=1` also that of a
    turn that has ended, composed from the log as it was at the turn's start; words that were erased
    since are not in it.

    Args:
        id (str):
        as_ (str | Unset):
        past (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | TurnContext]
    """

    kwargs = _get_kwargs(
        id=id,
        as_=as_,
        past=past,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    as_: str | Unset = UNSET,
    past: int | Unset = UNSET,
) -> ErrorBody | TurnContext | None:
    """Returns the input of a turn: the text that its participant reads before it answers.

     A participant that streams events gets it there as a `turn` event. With `past=1` also that of a
    turn that has ended, composed from the log as it was at the turn's start; words that were erased
    since are not in it.

    Args:
        id (str):
        as_ (str | Unset):
        past (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | TurnContext
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            as_=as_,
            past=past,
        )
    ).parsed
