from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.revoke_request import RevokeRequest
from ...models.token_revoked import TokenRevoked
from ...types import UNSET, Response, Unset


def _get_kwargs(
    id: str,
    *,
    body: None | RevokeRequest | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/tokens/{id}/revoke".format(
            id=quote(str(id), safe=""),
        ),
    }

    if isinstance(body, RevokeRequest):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | TokenRevoked | None:
    if response.status_code == 200:
        response_200 = TokenRevoked.from_dict(response.json())

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
) -> Response[ErrorBody | TokenRevoked]:
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
    body: None | RevokeRequest | Unset = UNSET,
) -> Response[ErrorBody | TokenRevoked]:
    """Revokes a token, the browsers that signed in with it, and its invitations that were not accepted
    yet.

     `with_children` also revokes the tokens made from its accepted invitations. Their open streams
    and connections close within a second.

    Args:
        id (str):
        body (None | RevokeRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | TokenRevoked]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: None | RevokeRequest | Unset = UNSET,
) -> ErrorBody | TokenRevoked | None:
    """Revokes a token, the browsers that signed in with it, and its invitations that were not accepted
    yet.

     `with_children` also revokes the tokens made from its accepted invitations. Their open streams
    and connections close within a second.

    Args:
        id (str):
        body (None | RevokeRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | TokenRevoked
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: None | RevokeRequest | Unset = UNSET,
) -> Response[ErrorBody | TokenRevoked]:
    """Revokes a token, the browsers that signed in with it, and its invitations that were not accepted
    yet.

     `with_children` also revokes the tokens made from its accepted invitations. Their open streams
    and connections close within a second.

    Args:
        id (str):
        body (None | RevokeRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | TokenRevoked]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: None | RevokeRequest | Unset = UNSET,
) -> ErrorBody | TokenRevoked | None:
    """Revokes a token, the browsers that signed in with it, and its invitations that were not accepted
    yet.

     `with_children` also revokes the tokens made from its accepted invitations. Their open streams
    and connections close within a second.

    Args:
        id (str):
        body (None | RevokeRequest | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | TokenRevoked
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
        )
    ).parsed
