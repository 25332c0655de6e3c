from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_body import ErrorBody
from ...models.needs_answer import NeedsAnswer
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    thread: str | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["thread"] = thread

    params["as"] = as_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/needs",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorBody | NeedsAnswer | None:
    if response.status_code == 200:
        response_200 = NeedsAnswer.from_dict(response.json())

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
) -> Response[ErrorBody | NeedsAnswer]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    thread: str | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> Response[ErrorBody | NeedsAnswer]:
    """Lists what waits for a reader, oldest first: agents' questions, guards that hold a floor, the
    talking piece, and unseen failures, mentions and questions that ended without an answer.

     Only what the caller may answer is listed; an agent gets an empty list. Questions and guards
    wait until they are answered. Failures, mentions and missed questions wait until `PUT
    /threads/{id}/read` passes them; they are searched among the newest 600 events of the 100
    threads with the newest unread events. `/events/stream` sends each change as a `needs` signal.

    Args:
        thread (str | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | NeedsAnswer]
    """

    kwargs = _get_kwargs(
        thread=thread,
        as_=as_,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    thread: str | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> ErrorBody | NeedsAnswer | None:
    """Lists what waits for a reader, oldest first: agents' questions, guards that hold a floor, the
    talking piece, and unseen failures, mentions and questions that ended without an answer.

     Only what the caller may answer is listed; an agent gets an empty list. Questions and guards
    wait until they are answered. Failures, mentions and missed questions wait until `PUT
    /threads/{id}/read` passes them; they are searched among the newest 600 events of the 100
    threads with the newest unread events. `/events/stream` sends each change as a `needs` signal.

    Args:
        thread (str | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | NeedsAnswer
    """

    return sync_detailed(
        client=client,
        thread=thread,
        as_=as_,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    thread: str | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> Response[ErrorBody | NeedsAnswer]:
    """Lists what waits for a reader, oldest first: agents' questions, guards that hold a floor, the
    talking piece, and unseen failures, mentions and questions that ended without an answer.

     Only what the caller may answer is listed; an agent gets an empty list. Questions and guards
    wait until they are answered. Failures, mentions and missed questions wait until `PUT
    /threads/{id}/read` passes them; they are searched among the newest 600 events of the 100
    threads with the newest unread events. `/events/stream` sends each change as a `needs` signal.

    Args:
        thread (str | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorBody | NeedsAnswer]
    """

    kwargs = _get_kwargs(
        thread=thread,
        as_=as_,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    thread: str | Unset = UNSET,
    as_: str | Unset = UNSET,
) -> ErrorBody | NeedsAnswer | None:
    """Lists what waits for a reader, oldest first: agents' questions, guards that hold a floor, the
    talking piece, and unseen failures, mentions and questions that ended without an answer.

     Only what the caller may answer is listed; an agent gets an empty list. Questions and guards
    wait until they are answered. Failures, mentions and missed questions wait until `PUT
    /threads/{id}/read` passes them; they are searched among the newest 600 events of the 100
    threads with the newest unread events. `/events/stream` sends each change as a `needs` signal.

    Args:
        thread (str | Unset):
        as_ (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorBody | NeedsAnswer
    """

    return (
        await asyncio_detailed(
            client=client,
            thread=thread,
            as_=as_,
        )
    ).parsed
