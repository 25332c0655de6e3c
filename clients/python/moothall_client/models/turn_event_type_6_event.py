from enum import StrEnum


class TurnEventType6Event(StrEnum):
    KEPT = "kept"

    def __str__(self) -> str:
        return str(self.value)
