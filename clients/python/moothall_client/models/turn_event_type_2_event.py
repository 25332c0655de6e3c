from enum import StrEnum


class TurnEventType2Event(StrEnum):
    RELEASED = "released"

    def __str__(self) -> str:
        return str(self.value)
