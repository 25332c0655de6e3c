from enum import StrEnum


class TurnEventType7Event(StrEnum):
    KEPT = "kept"

    def __str__(self) -> str:
        return str(self.value)
