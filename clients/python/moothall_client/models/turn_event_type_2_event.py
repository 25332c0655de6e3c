from enum import StrEnum


class TurnEventType2Event(StrEnum):
    STARTED = "started"

    def __str__(self) -> str:
        return str(self.value)
