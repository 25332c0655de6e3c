from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.gathering_answer import GatheringAnswer
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    participant: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["participant"] = participant

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/gatherings/{id}".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

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
    participant: str | Unset = UNSET,
) -> Response[ErrorBody | GatheringAnswer]:
    """Returns one gathering: its progress, the holder of the talking piece, and the harvest.

    Args:
        id (str):
        participant (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | GatheringAnswer]
    """

    kwargs = _get_kwargs(
        id=id,
        participant=participant,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    participant: str | Unset = UNSET,
) -> ErrorBody | GatheringAnswer | None:
    """Returns one gathering: its progress, the holder of the talking piece, and the harvest.

    Args:
        id (str):
        participant (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | GatheringAnswer
    """

    return sync_detailed(
        id=id,
        client=client,
        participant=participant,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    participant: str | Unset = UNSET,
) -> Response[ErrorBody | GatheringAnswer]:
    """Returns one gathering: its progress, the holder of the talking piece, and the harvest.

    Args:
        id (str):
        participant (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | GatheringAnswer]
    """

    kwargs = _get_kwargs(
        id=id,
        participant=participant,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    participant: str | Unset = UNSET,
) -> ErrorBody | GatheringAnswer | None:
    """Returns one gathering: its progress, the holder of the talking piece, and the harvest.

    Args:
        id (str):
        participant (str | Unset):

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
            participant=participant,
        )
    ).parsed
