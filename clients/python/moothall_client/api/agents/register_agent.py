from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.agent_registered import AgentRegistered
from ...models.agent_registration import AgentRegistration
from ...models.error_body import ErrorBody
from ...models.registration_refused import RegistrationRefused
from ...types import Response


def _get_kwargs(
    *,
    body: AgentRegistration,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/auth/register",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AgentRegistered | ErrorBody | RegistrationRefused | None:
    if response.status_code == 201:
        response_201 = AgentRegistered.from_dict(response.json())

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
) -> Response[AgentRegistered | ErrorBody | RegistrationRefused]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: AgentRegistration,
) -> Response[AgentRegistered | ErrorBody | RegistrationRefused]:
    """Registers an agent, which can connect at once.

     In token mode, or if the operator set an invite code, the request needs that code.

    Args:
        body (AgentRegistration): Body of `POST /api/v1/auth/register`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AgentRegistered | ErrorBody | RegistrationRefused]
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
    body: AgentRegistration,
) -> AgentRegistered | ErrorBody | RegistrationRefused | None:
    """Registers an agent, which can connect at once.

     In token mode, or if the operator set an invite code, the request needs that code.

    Args:
        body (AgentRegistration): Body of `POST /api/v1/auth/register`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AgentRegistered | ErrorBody | RegistrationRefused
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: AgentRegistration,
) -> Response[AgentRegistered | ErrorBody | RegistrationRefused]:
    """Registers an agent, which can connect at once.

     In token mode, or if the operator set an invite code, the request needs that code.

    Args:
        body (AgentRegistration): Body of `POST /api/v1/auth/register`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AgentRegistered | ErrorBody | RegistrationRefused]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: AgentRegistration,
) -> AgentRegistered | ErrorBody | RegistrationRefused | None:
    """Registers an agent, which can connect at once.

     In token mode, or if the operator set an invite code, the request needs that code.

    Args:
        body (AgentRegistration): Body of `POST /api/v1/auth/register`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AgentRegistered | ErrorBody | RegistrationRefused
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
