from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.invitation_code import InvitationCode
from ...models.invitation_request import InvitationRequest
from ...types import Response


def _get_kwargs(
    *,
    body: InvitationRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/invitations",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | InvitationCode | None:
    if response.status_code == 200:
        response_200 = InvitationCode.from_dict(response.json())

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
) -> Response[ErrorBody | InvitationCode]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: InvitationRequest,
) -> Response[ErrorBody | InvitationCode]:
    """Makes a code that can be exchanged once for a token for the whole hall: the person or agent gets
    the same token as by `POST /tokens`, and the maker never sees it.

    Args:
        body (InvitationRequest): Body of `POST /threads/{id}/invitations` and `POST
            /invitations`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | InvitationCode]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: InvitationRequest,
) -> ErrorBody | InvitationCode | None:
    """Makes a code that can be exchanged once for a token for the whole hall: the person or agent gets
    the same token as by `POST /tokens`, and the maker never sees it.

    Args:
        body (InvitationRequest): Body of `POST /threads/{id}/invitations` and `POST
            /invitations`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | InvitationCode
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: InvitationRequest,
) -> Response[ErrorBody | InvitationCode]:
    """Makes a code that can be exchanged once for a token for the whole hall: the person or agent gets
    the same token as by `POST /tokens`, and the maker never sees it.

    Args:
        body (InvitationRequest): Body of `POST /threads/{id}/invitations` and `POST
            /invitations`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | InvitationCode]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: InvitationRequest,
) -> ErrorBody | InvitationCode | None:
    """Makes a code that can be exchanged once for a token for the whole hall: the person or agent gets
    the same token as by `POST /tokens`, and the maker never sees it.

    Args:
        body (InvitationRequest): Body of `POST /threads/{id}/invitations` and `POST
            /invitations`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | InvitationCode
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
