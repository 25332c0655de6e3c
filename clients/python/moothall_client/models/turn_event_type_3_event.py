from enum import StrEnum


class TurnEventType3Event(StrEnum):
    LOST = "lost"

    def __str__(self) -> str:
        return str(self.value)
