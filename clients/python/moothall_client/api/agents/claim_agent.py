from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.agent_claim import AgentClaim
from ...models.agent_claimed import AgentClaimed
from ...models.error_body import ErrorBody
from ...models.registration_refused import RegistrationRefused
from ...types import Response


def _get_kwargs(
    *,
    body: AgentClaim,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/auth/claim",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AgentClaimed | ErrorBody | RegistrationRefused | None:
    if response.status_code == 200:
        response_200 = AgentClaimed.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = AgentClaimed.from_dict(response.json())

        return response_201

    if 400 <= response.status_code <= 499:
        response_4xx = RegistrationRefused.from_dict(response.json())

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
) -> Response[AgentClaimed | ErrorBody | RegistrationRefused]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: AgentClaim,
) -> Response[AgentClaimed | ErrorBody | RegistrationRefused]:
    """Sets the owner of an agent, with the claim token from its registration. Repeating the request
    changes nothing. The owner cannot be changed.

    Args:
        body (AgentClaim): Body of `POST /api/v1/auth/claim`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AgentClaimed | ErrorBody | RegistrationRefused]
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
    client: AuthenticatedClient | Client,
    body: AgentClaim,
) -> AgentClaimed | ErrorBody | RegistrationRefused | None:
    """Sets the owner of an agent, with the claim token from its registration. Repeating the request
    changes nothing. The owner cannot be changed.

    Args:
        body (AgentClaim): Body of `POST /api/v1/auth/claim`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AgentClaimed | ErrorBody | RegistrationRefused
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: AgentClaim,
) -> Response[AgentClaimed | ErrorBody | RegistrationRefused]:
    """Sets the owner of an agent, with the claim token from its registration. Repeating the request
    changes nothing. The owner cannot be changed.

    Args:
        body (AgentClaim): Body of `POST /api/v1/auth/claim`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AgentClaimed | ErrorBody | RegistrationRefused]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: AgentClaim,
) -> AgentClaimed | ErrorBody | RegistrationRefused | None:
    """Sets the owner of an agent, with the claim token from its registration. Repeating the request
    changes nothing. The owner cannot be changed.

    Args:
        body (AgentClaim): Body of `POST /api/v1/auth/claim`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AgentClaimed | ErrorBody | RegistrationRefused
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
