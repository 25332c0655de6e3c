from enum import StrEnum


class TurnEventType1Event(StrEnum):
    WIDENED = "widened"

    def __str__(self) -> str:
        return str(self.value)
