from enum import StrEnum


class TurnEventType11Event(StrEnum):
    ROUND_OPENED = "round_opened"

    def __str__(self) -> str:
        return str(self.value)
