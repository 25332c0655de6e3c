from enum import StrEnum


class TurnEventType3Event(StrEnum):
    STARTED = "started"

    def __str__(self) -> str:
        return str(self.value)
