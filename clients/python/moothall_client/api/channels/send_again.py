from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.delivery_resent import DeliveryResent
from ...models.error_body import ErrorBody
from ...types import Response


def _get_kwargs(
    id: str,
    delivery: int,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/threads/{id}/deliveries/{delivery}/again".format(
            id=quote(str(id), safe=""),
            delivery=quote(str(delivery), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> DeliveryResent | ErrorBody | None:
    if response.status_code == 200:
        response_200 = DeliveryResent.from_dict(response.json())

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
) -> Response[DeliveryResent | ErrorBody]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    delivery: int,
    *,
    client: AuthenticatedClient,
) -> Response[DeliveryResent | ErrorBody]:
    """Sends a delivery again that failed or may have arrived. Parts that are known to have arrived are
    not repeated.

    Args:
        id (str):
        delivery (int):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeliveryResent | ErrorBody]
    """

    kwargs = _get_kwargs(
        id=id,
        delivery=delivery,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    delivery: int,
    *,
    client: AuthenticatedClient,
) -> DeliveryResent | ErrorBody | None:
    """Sends a delivery again that failed or may have arrived. Parts that are known to have arrived are
    not repeated.

    Args:
        id (str):
        delivery (int):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeliveryResent | ErrorBody
    """

    return sync_detailed(
        id=id,
        delivery=delivery,
        client=client,
    ).parsed


async def asyncio_detailed(
    id: str,
    delivery: int,
    *,
    client: AuthenticatedClient,
) -> Response[DeliveryResent | ErrorBody]:
    """Sends a delivery again that failed or may have arrived. Parts that are known to have arrived are
    not repeated.

    Args:
        id (str):
        delivery (int):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[DeliveryResent | ErrorBody]
    """

    kwargs = _get_kwargs(
        id=id,
        delivery=delivery,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    delivery: int,
    *,
    client: AuthenticatedClient,
) -> DeliveryResent | ErrorBody | None:
    """Sends a delivery again that failed or may have arrived. Parts that are known to have arrived are
    not repeated.

    Args:
        id (str):
        delivery (int):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        DeliveryResent | ErrorBody
    """

    return (
        await asyncio_detailed(
            id=id,
            delivery=delivery,
            client=client,
        )
    ).parsed
