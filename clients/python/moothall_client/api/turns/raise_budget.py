from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.budget_raise import BudgetRaise
from ...models.budget_raised import BudgetRaised
from ...models.error_body import ErrorBody
from ...types import Response


def _get_kwargs(
    *,
    body: BudgetRaise,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/budgets/raise",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> BudgetRaised | ErrorBody | None:
    if response.status_code == 200:
        response_200 = BudgetRaised.from_dict(response.json())

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
) -> Response[BudgetRaised | ErrorBody]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: BudgetRaise,
) -> Response[BudgetRaised | ErrorBody]:
    """Raises the budget of the hall, of an agent, or of a principal that causes turns. A thread's
    budget is raised by a control in the thread.

    Args:
        body (BudgetRaise): Body of `POST /budgets/raise`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BudgetRaised | ErrorBody]
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
    body: BudgetRaise,
) -> BudgetRaised | ErrorBody | None:
    """Raises the budget of the hall, of an agent, or of a principal that causes turns. A thread's
    budget is raised by a control in the thread.

    Args:
        body (BudgetRaise): Body of `POST /budgets/raise`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BudgetRaised | ErrorBody
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: BudgetRaise,
) -> Response[BudgetRaised | ErrorBody]:
    """Raises the budget of the hall, of an agent, or of a principal that causes turns. A thread's
    budget is raised by a control in the thread.

    Args:
        body (BudgetRaise): Body of `POST /budgets/raise`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BudgetRaised | ErrorBody]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: BudgetRaise,
) -> BudgetRaised | ErrorBody | None:
    """Raises the budget of the hall, of an agent, or of a principal that causes turns. A thread's
    budget is raised by a control in the thread.

    Args:
        body (BudgetRaise): Body of `POST /budgets/raise`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BudgetRaised | ErrorBody
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
