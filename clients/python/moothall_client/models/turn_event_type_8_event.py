from enum import StrEnum


class TurnEventType8Event(StrEnum):
    SUMMARISED = "summarised"

    def __str__(self) -> str:
        return str(self.value)
