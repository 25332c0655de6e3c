from enum import StrEnum


class TurnEventType6Event(StrEnum):
    SKIPPED = "skipped"

    def __str__(self) -> str:
        return str(self.value)
