from enum import StrEnum


class TurnEventType5Event(StrEnum):
    ENDED = "ended"

    def __str__(self) -> str:
        return str(self.value)
