from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.folder_answer import FolderAnswer
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    client_query: str,
    path: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["client"] = client_query

    params["path"] = path

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/folders",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | FolderAnswer | None:
    if response.status_code == 200:
        response_200 = FolderAnswer.from_dict(response.json())

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
) -> Response[ErrorBody | FolderAnswer]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    client_query: str,
    path: str | Unset = UNSET,
) -> Response[ErrorBody | FolderAnswer]:
    """Lists the folders in which a program could be started: those inside a folder, and those in which
    sessions worked.

    Args:
        client_query (str):
        path (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | FolderAnswer]
    """

    kwargs = _get_kwargs(
        client_query=client_query,
        path=path,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    client_query: str,
    path: str | Unset = UNSET,
) -> ErrorBody | FolderAnswer | None:
    """Lists the folders in which a program could be started: those inside a folder, and those in which
    sessions worked.

    Args:
        client_query (str):
        path (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | FolderAnswer
    """

    return sync_detailed(
        client=client,
        client_query=client_query,
        path=path,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    client_query: str,
    path: str | Unset = UNSET,
) -> Response[ErrorBody | FolderAnswer]:
    """Lists the folders in which a program could be started: those inside a folder, and those in which
    sessions worked.

    Args:
        client_query (str):
        path (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | FolderAnswer]
    """

    kwargs = _get_kwargs(
        client_query=client_query,
        path=path,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    client_query: str,
    path: str | Unset = UNSET,
) -> ErrorBody | FolderAnswer | None:
    """Lists the folders in which a program could be started: those inside a folder, and those in which
    sessions worked.

    Args:
        client_query (str):
        path (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | FolderAnswer
    """

    return (
        await asyncio_detailed(
            client=client,
            client_query=client_query,
            path=path,
        )
    ).parsed
