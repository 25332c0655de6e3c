from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.guard_lift import GuardLift


T = TypeVar("T", bound="GuardEntry")


@_attrs_define
class GuardEntry:
    """One guard with its current state.

    Attributes:
        guard (str): Kind of the guard: `hold`, `pause`, `stop`, `mute`, `exchanges`, `pair`, `repeat`, `queue`,
            `queue_share`, `replies`, `pace`, `refused`, `budget`, `waiting` or `own_words`.
        says (str): Description of the guard for people, in a few words.
        state (str): State of the guard: `held`, `refused`, `waiting`, `reserved` or `near`.
        budget (None | str | Unset): Kind of owner of the budget, or of the budget that a call waits for: `hall`,
            `conversation`,
            `agent` or `principal`; absent for other guards.
        count (int | None | Unset): Current count; absent for a guard without a count.
        hold (None | str | Unset): Cause of a hold: `exchanges`, `pair`, `repeat` or `stopped`; absent for other guards.
        lift (GuardLift | None | Unset):
        limit (int | None | Unset): Maximum of `count`; absent for a guard without a count.
        measure (None | str | Unset): Measure of a budget or of a waiting call: `turns`, `unattended_turns` or
            `cost_micros`;
            absent for other guards.
        missing (int | None | Unset): Amount that a waiting call lacks, in millionths of the currency; absent for other
            guards.
        name (None | str | Unset): Title of that thread; absent without one.
        reserved (int | None | Unset): Part of the limit that is reserved for calls in progress; absent if it is 0.
        since (None | str | Unset): Time since which the guard has been in this state; absent if not known.
        thread (None | str | Unset): Id of the guard's thread; absent for a guard of the whole server.
        until (None | str | Unset): Time at which the guard ends by itself; absent if not known.
        who (list[str] | Unset): Ids of the participants that the guard is about.
        whose (None | str | Unset): Name of the agent or principal that owns the budget; absent for other owners.
    """

    guard: str
    says: str
    state: str
    budget: None | str | Unset = UNSET
    count: int | None | Unset = UNSET
    hold: None | str | Unset = UNSET
    lift: GuardLift | None | Unset = UNSET
    limit: int | None | Unset = UNSET
    measure: None | str | Unset = UNSET
    missing: int | None | Unset = UNSET
    name: None | str | Unset = UNSET
    reserved: int | None | Unset = UNSET
    since: None | str | Unset = UNSET
    thread: None | str | Unset = UNSET
    until: None | str | Unset = UNSET
    who: list[str] | Unset = UNSET
    whose: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.guard_lift import GuardLift  # noqa: PLC0415

        guard = self.guard

        says = self.says

        state = self.state

        budget: None | str | Unset
        if isinstance(self.budget, Unset):
            budget = UNSET
        else:
            budget = self.budget

        count: int | None | Unset
        if isinstance(self.count, Unset):
            count = UNSET
        else:
            count = self.count

        hold: None | str | Unset
        if isinstance(self.hold, Unset):
            hold = UNSET
        else:
            hold = self.hold

        lift: dict[str, Any] | None | Unset
        if isinstance(self.lift, Unset):
            lift = UNSET
        elif isinstance(self.lift, GuardLift):
            lift = self.lift.to_dict()
        else:
            lift = self.lift

        limit: int | None | Unset
        if isinstance(self.limit, Unset):
            limit = UNSET
        else:
            limit = self.limit

        measure: None | str | Unset
        if isinstance(self.measure, Unset):
            measure = UNSET
        else:
            measure = self.measure

        missing: int | None | Unset
        if isinstance(self.missing, Unset):
            missing = UNSET
        else:
            missing = self.missing

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        reserved: int | None | Unset
        if isinstance(self.reserved, Unset):
            reserved = UNSET
        else:
            reserved = self.reserved

        since: None | str | Unset
        if isinstance(self.since, Unset):
            since = UNSET
        else:
            since = self.since

        thread: None | str | Unset
        if isinstance(self.thread, Unset):
            thread = UNSET
        else:
            thread = self.thread

        until: None | str | Unset
        if isinstance(self.until, Unset):
            until = UNSET
        else:
            until = self.until

        who: list[str] | Unset = UNSET
        if not isinstance(self.who, Unset):
            who = self.who

        whose: None | str | Unset
        if isinstance(self.whose, Unset):
            whose = UNSET
        else:
            whose = self.whose

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "guard": guard,
                "says": says,
                "state": state,
            }
        )
        if budget is not UNSET:
            field_dict["budget"] = budget
        if count is not UNSET:
            field_dict["count"] = count
        if hold is not UNSET:
            field_dict["hold"] = hold
        if lift is not UNSET:
            field_dict["lift"] = lift
        if limit is not UNSET:
            field_dict["limit"] = limit
        if measure is not UNSET:
            field_dict["measure"] = measure
        if missing is not UNSET:
            field_dict["missing"] = missing
        if name is not UNSET:
            field_dict["name"] = name
        if reserved is not UNSET:
            field_dict["reserved"] = reserved
        if since is not UNSET:
            field_dict["since"] = since
        if thread is not UNSET:
            field_dict["thread"] = thread
        if until is not UNSET:
            field_dict["until"] = until
        if who is not UNSET:
            field_dict["who"] = who
        if whose is not UNSET:
            field_dict["whose"] = whose

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.guard_lift import GuardLift  # noqa: PLC0415

        d = dict(src_dict)
        guard = d.pop("guard")

        says = d.pop("says")

        state = d.pop("state")

        def _parse_budget(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        budget = _parse_budget(d.pop("budget", UNSET))

        def _parse_count(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        count = _parse_count(d.pop("count", UNSET))

        def _parse_hold(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        hold = _parse_hold(d.pop("hold", UNSET))

        def _parse_lift(data: object) -> GuardLift | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                lift_type_0 = GuardLift.from_dict(data)

                return lift_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GuardLift | None | Unset, data)

        lift = _parse_lift(d.pop("lift", UNSET))

        def _parse_limit(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        limit = _parse_limit(d.pop("limit", UNSET))

        def _parse_measure(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        measure = _parse_measure(d.pop("measure", UNSET))

        def _parse_missing(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        missing = _parse_missing(d.pop("missing", UNSET))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_reserved(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        reserved = _parse_reserved(d.pop("reserved", UNSET))

        def _parse_since(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        since = _parse_since(d.pop("since", UNSET))

        def _parse_thread(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        thread = _parse_thread(d.pop("thread", UNSET))

        def _parse_until(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        until = _parse_until(d.pop("until", UNSET))

        who = cast(list[str], d.pop("who", UNSET))

        def _parse_whose(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        whose = _parse_whose(d.pop("whose", UNSET))

        guard_entry = cls(
            guard=guard,
            says=says,
            state=state,
            budget=budget,
            count=count,
            hold=hold,
            lift=lift,
            limit=limit,
            measure=measure,
            missing=missing,
            name=name,
            reserved=reserved,
            since=since,
            thread=thread,
            until=until,
            who=who,
            whose=whose,
        )

        guard_entry.additional_properties = d
        return guard_entry

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
