from enum import StrEnum


class TurnEventType9Event(StrEnum):
    SUMMARISED = "summarised"

    def __str__(self) -> str:
        return str(self.value)
