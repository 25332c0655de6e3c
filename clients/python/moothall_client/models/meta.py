from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.mention_place import MentionPlace
    from ..models.wire_fault import WireFault


T = TypeVar("T", bound="Meta")


@_attrs_define
class Meta:
    """Facts about an event beside its content.

    Attributes:
        chat (None | str | Unset): Chat outside of the server from which the message came, such as `telegram:-100123`;
            absent
            for other messages. Clients cannot set it.
        depth (int | None | Unset): Number of steps from a human message to this one; absent for the human message,
            which has 0.
        ended (None | str | Unset): End of the model's answer: `stop`, `length` (a limit of tokens; the rest is
            missing),
            `filter`, `refusal`, `tool`, `error` or `cut`. Absent if the provider does not report it.
        error (None | Unset | WireFault):
        identity (None | str | Unset): Account of the author in that chat's product, such as `telegram:4711`, if known.
        mention_places (list[MentionPlace] | Unset): Places at which the message names participants, in order; the first
            128. Empty for messages
            from servers that did not keep places.
        mentions (list[str] | Unset): Ids of the invited participants whom the message names, in order.
        published (int | None | Unset): Position of the kept text that a person published with this message; absent for
            other
            messages.
        queue_full (bool | Unset): True if the queue was full: the message asks no agent and does not wait.
        queued (bool | Unset): True if the message waits until earlier messages are answered.
        redacted (bool | Unset): True if the words of the event were erased. Its content is empty then.
        reply_to (None | str | Unset): Id of the event that this one replies to; absent if it replies to none.
        shown_name (None | str | Unset): Name that the account gives itself, for an `observation`. It proves nothing.
        stopped (bool | Unset): True if a person stopped the author: the content is the text shown by then, and stays
            incomplete.
        tags (list[str] | Unset): Labels of the client, and the server's `coordinator` and `error`.
        thought (bool | Unset): True if the content is the model's thoughts, because the model wrote nothing else.
        turn (None | str | Unset): Id of the turn that the message answers; absent if it answers none.
        typed_at (None | str | Unset): Id of the participant in whose terminal the message was typed. Agents can type
            there too.
        unproven (bool | Unset): True if no credential proves `from`: the client or a terminal stated it.
        via (None | str | Unset): `moothall` if the server wrote the message on the speaker's behalf; otherwise absent.
    """

    chat: None | str | Unset = UNSET
    depth: int | None | Unset = UNSET
    ended: None | str | Unset = UNSET
    error: None | Unset | WireFault = UNSET
    identity: None | str | Unset = UNSET
    mention_places: list[MentionPlace] | Unset = UNSET
    mentions: list[str] | Unset = UNSET
    published: int | None | Unset = UNSET
    queue_full: bool | Unset = UNSET
    queued: bool | Unset = UNSET
    redacted: bool | Unset = UNSET
    reply_to: None | str | Unset = UNSET
    shown_name: None | str | Unset = UNSET
    stopped: bool | Unset = UNSET
    tags: list[str] | Unset = UNSET
    thought: bool | Unset = UNSET
    turn: None | str | Unset = UNSET
    typed_at: None | str | Unset = UNSET
    unproven: bool | Unset = UNSET
    via: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.wire_fault import WireFault  # noqa: PLC0415

        chat: None | str | Unset
        if isinstance(self.chat, Unset):
            chat = UNSET
        else:
            chat = self.chat

        depth: int | None | Unset
        if isinstance(self.depth, Unset):
            depth = UNSET
        else:
            depth = self.depth

        ended: None | str | Unset
        if isinstance(self.ended, Unset):
            ended = UNSET
        else:
            ended = self.ended

        error: dict[str, Any] | None | Unset
        if isinstance(self.error, Unset):
            error = UNSET
        elif isinstance(self.error, WireFault):
            error = self.error.to_dict()
        else:
            error = self.error

        identity: None | str | Unset
        if isinstance(self.identity, Unset):
            identity = UNSET
        else:
            identity = self.identity

        mention_places: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.mention_places, Unset):
            mention_places = []
            for mention_places_item_data in self.mention_places:
                mention_places_item = mention_places_item_data.to_dict()
                mention_places.append(mention_places_item)

        mentions: list[str] | Unset = UNSET
        if not isinstance(self.mentions, Unset):
            mentions = self.mentions

        published: int | None | Unset
        if isinstance(self.published, Unset):
            published = UNSET
        else:
            published = self.published

        queue_full = self.queue_full

        queued = self.queued

        redacted = self.redacted

        reply_to: None | str | Unset
        if isinstance(self.reply_to, Unset):
            reply_to = UNSET
        else:
            reply_to = self.reply_to

        shown_name: None | str | Unset
        if isinstance(self.shown_name, Unset):
            shown_name = UNSET
        else:
            shown_name = self.shown_name

        stopped = self.stopped

        tags: list[str] | Unset = UNSET
        if not isinstance(self.tags, Unset):
            tags = self.tags

        thought = self.thought

        turn: None | str | Unset
        if isinstance(self.turn, Unset):
            turn = UNSET
        else:
            turn = self.turn

        typed_at: None | str | Unset
        if isinstance(self.typed_at, Unset):
            typed_at = UNSET
        else:
            typed_at = self.typed_at

        unproven = self.unproven

        via: None | str | Unset
        if isinstance(self.via, Unset):
            via = UNSET
        else:
            via = self.via

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if chat is not UNSET:
            field_dict["chat"] = chat
        if depth is not UNSET:
            field_dict["depth"] = depth
        if ended is not UNSET:
            field_dict["ended"] = ended
        if error is not UNSET:
            field_dict["error"] = error
        if identity is not UNSET:
            field_dict["identity"] = identity
        if mention_places is not UNSET:
            field_dict["mention_places"] = mention_places
        if mentions is not UNSET:
            field_dict["mentions"] = mentions
        if published is not UNSET:
            field_dict["published"] = published
        if queue_full is not UNSET:
            field_dict["queue_full"] = queue_full
        if queued is not UNSET:
            field_dict["queued"] = queued
        if redacted is not UNSET:
            field_dict["redacted"] = redacted
        if reply_to is not UNSET:
            field_dict["reply_to"] = reply_to
        if shown_name is not UNSET:
            field_dict["shown_name"] = shown_name
        if stopped is not UNSET:
            field_dict["stopped"] = stopped
        if tags is not UNSET:
            field_dict["tags"] = tags
        if thought is not UNSET:
            field_dict["thought"] = thought
        if turn is not UNSET:
            field_dict["turn"] = turn
        if typed_at is not UNSET:
            field_dict["typed_at"] = typed_at
        if unproven is not UNSET:
            field_dict["unproven"] = unproven
        if via is not UNSET:
            field_dict["via"] = via

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.mention_place import MentionPlace  # noqa: PLC0415
        from ..models.wire_fault import WireFault  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_chat(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        chat = _parse_chat(d.pop("chat", UNSET))

        def _parse_depth(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        depth = _parse_depth(d.pop("depth", UNSET))

        def _parse_ended(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        ended = _parse_ended(d.pop("ended", UNSET))

        def _parse_error(data: object) -> None | Unset | WireFault:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = WireFault.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | WireFault, data)

        error = _parse_error(d.pop("error", UNSET))

        def _parse_identity(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        identity = _parse_identity(d.pop("identity", UNSET))

        _mention_places = d.pop("mention_places", UNSET)
        mention_places: list[MentionPlace] | Unset = UNSET
        if _mention_places is not UNSET:
            mention_places = []
            for mention_places_item_data in _mention_places:
                mention_places_item = MentionPlace.from_dict(mention_places_item_data)

                mention_places.append(mention_places_item)

        mentions = cast(list[str], d.pop("mentions", UNSET))

        def _parse_published(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        published = _parse_published(d.pop("published", UNSET))

        queue_full = d.pop("queue_full", UNSET)

        queued = d.pop("queued", UNSET)

        redacted = d.pop("redacted", UNSET)

        def _parse_reply_to(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reply_to = _parse_reply_to(d.pop("reply_to", UNSET))

        def _parse_shown_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        shown_name = _parse_shown_name(d.pop("shown_name", UNSET))

        stopped = d.pop("stopped", UNSET)

        tags = cast(list[str], d.pop("tags", UNSET))

        thought = d.pop("thought", UNSET)

        def _parse_turn(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        turn = _parse_turn(d.pop("turn", UNSET))

        def _parse_typed_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        typed_at = _parse_typed_at(d.pop("typed_at", UNSET))

        unproven = d.pop("unproven", UNSET)

        def _parse_via(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        via = _parse_via(d.pop("via", UNSET))

        meta = cls(
            chat=chat,
            depth=depth,
            ended=ended,
            error=error,
            identity=identity,
            mention_places=mention_places,
            mentions=mentions,
            published=published,
            queue_full=queue_full,
            queued=queued,
            redacted=redacted,
            reply_to=reply_to,
            shown_name=shown_name,
            stopped=stopped,
            tags=tags,
            thought=thought,
            turn=turn,
            typed_at=typed_at,
            unproven=unproven,
            via=via,
        )

        meta.additional_properties = d
        return meta

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
